import type { FaultCode } from '@clinical-launch/contracts/fault';

const maxDepth = 64;
/**
 * Several times the number of members, or objects and lists, of our largest body. Each costs far more to read
 * than its bytes.
 */
const maxParts = 10_000;

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** An error in a JSON text, and its index. */
export type JsonFault = {
  readonly at: number;
  /** The rest of a sentence that begins with "The body". */
  readonly message: string;
  readonly code: FaultCode;
};

/**
 * Finds content that JSON.parse accepts but no honest client sends: nesting deeper than 64 (it overflows
 * stacks), an object that names a member twice (two readers may see two documents, RFC 8259 section 4) and
 * more than 10,000 members, or objects and lists. Reads each character and decodes each name once, so the
 * time grows linearly with the length of the text.
 * @returns the first error, or undefined; JSON.parse decides whether the text is JSON at all
 */
export function scanJson(text: string): JsonFault | undefined {
  // One entry per open container: the names seen in an object, undefined for an array.
  const open: (Set<string> | undefined)[] = [];
  let last: string | undefined;
  let members = 0;
  let containers = 0;
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
        if (names === undefined || last === undefined) break;
        members += 1;
        if (members > maxParts) return tooCostly(at, `has more than ${maxParts} members`);
        const name = nameOf(last);
        // A literal names one member. A second colon after it would decode the same literal repeatedly.
        last = undefined;
        if (names.has(name)) return { at, message: 'names a member of an object twice', code: 'duplicate' };
        names.add(name);
        break;
      }
      case openBrace:
      case openBracket:
        containers += 1;
        if (containers > maxParts) return tooCostly(at, `has more than ${maxParts} objects and lists`);
        if (open.length === maxDepth) return tooCostly(at, `is nested deeper than ${maxDepth} levels`);
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

const tooCostly = (at: number, message: string): JsonFault => ({ at, message, code: 'too-costly' });

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === backslash) at += 1;
    else if (code === quote) return at;
  }
  return text.length;
}

/** Returns the decoded name: two spellings of one name (`a`, `\u0061`) are the same. */
function nameOf(literal: string): string {
  if (!literal.includes('\\')) return literal;
  try {
    return `"${String(JSON.parse(literal))}"`;
  } catch {
    return literal;
  }
}
