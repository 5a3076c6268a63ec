const maxDepth = 64;

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Looks for what JSON.parse lets through and no honest sender writes: nesting deeper than 64 (it overflows stacks)
 * and an object that names a member twice (two readers may see two documents, RFC 8259 section 4).
 * @returns what is wrong with the body, or undefined; whether the text is JSON at all is left to JSON.parse.
 */
export function scanJson(text: string): string | undefined {
  // One entry per open container: the names seen in an object, undefined for an array.
  const open: (Set<string> | undefined)[] = [];
  let last = '';
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfString(text, at);
        last = text.slice(at, end + 1);
        at = end;
        break;
      }
      case colon: {
        const names = open.at(-1);
        const name = nameOf(last);
        if (names?.has(name)) return 'names a member of an object twice';
        names?.add(name);
        break;
      }
      case openBrace:
      case openBracket:
        if (open.length === maxDepth) return `is nested deeper than ${maxDepth} levels`;
        open.push(text.charCodeAt(at) === openBrace ? new Set() : undefined);
        break;
      case closeBrace:
      case closeBracket:
        open.pop();
        break;
      default:
    }
  }
  return undefined;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === backslash) at += 1;
    else if (code === quote) return at;
  }
  return text.length;
}

/** Two spellings of one name (`a`, `\u0061`) are one name. */
function nameOf(literal: string): string {
  if (!literal.includes('\\')) return literal;
  try {
    return `"${String(JSON.parse(literal))}"`;
  } catch {
    return literal;
  }
}
