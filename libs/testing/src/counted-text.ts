/**
 * Returns a text that reports how many characters a parser reads. An indexed access reads one character. A
 * search or decoding reads all characters of the searched or decoded part. A regular expression counts as one
 * character, because it reads one token.
 */
export function countedText(text: string, report: (characters: number) => void): string {
  return counted(text, report, 1);
}

function counted(text: string, report: (characters: number) => void, readAsWhole: number): string {
  const whole = () => {
    report(readAsWhole);
    return text;
  };
  const members: Readonly<Record<string | symbol, unknown>> = {
    length: text.length,
    [Symbol.toPrimitive]: whole,
    charAt: (at: number) => readOne(at) ?? '',
    charCodeAt: (at: number) => readOne(at)?.charCodeAt(0) ?? Number.NaN,
    includes: (searched: string) => whole().includes(searched),
    slice(start: number, end?: number) {
      const part = text.slice(start, end);
      return counted(part, report, part.length);
    },
  };
  const readOne = (at: number): string | undefined => {
    report(1);
    return text[at];
  };
  const proxy = new Proxy(members, {
    get(_, name) {
      if (name in members) return members[name];
      if (typeof name === 'string' && /^\d+$/.test(name)) return readOne(Number(name));
      throw new TypeError(`Reading a counted text by ${String(name)} is not counted yet`);
    },
  });
  // A parser uses only the members above. The proxy throws an error for any other member.
  return proxy as unknown as string;
}
