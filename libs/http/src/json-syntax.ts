import type { FaultCode } from '@clinical-launch/contracts/fault';

/**
 * Returns the position of the first JSON syntax error (RFC 8259), and what JSON requires there. Call this
 * function only for text that JSON.parse refused. Reads each character once, and never throws.
 *
 * The error messages of JSON.parse are not used, because they quote the text, which may contain patient data,
 * and because many contain no position.
 */
export function findJsonSyntaxFault(text: string): JsonFault {
  const open: string[] = [];
  let state: State = 'value';
  let at = afterSpace(text, 0);
  for (;;) {
    const character = text[at] ?? '';
    // At the end of the text, `character` is empty, which no state accepts.
    const next = follows(state, character, open);
    if (next === undefined) return notJson(at, wanted[state]);
    const end = endOfToken(text, at);
    if (end.fault !== undefined) return notJson(end.at, end.fault);
    if (character === '{' || character === '[') open.push(character);
    if (character === '}' || character === ']') open.pop();
    state = next;
    at = afterSpace(text, end.at);
  }
}

type State = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'next member' | 'next entry' | 'end';

const wanted: Readonly<Record<State, string>> = {
  value: 'a value is required',
  'first value': 'a value or the end of the list is required',
  name: 'the name of a member is required, in double quotes',
  'first name': 'the name of a member, in double quotes, or the end of the object is required',
  colon: 'a colon is required',
  'next member': 'a comma or the end of the object is required',
  'next entry': 'a comma or the end of the list is required',
  end: 'nothing is allowed after the end',
};

/**
 * Returns the state after a token that begins with this character, or undefined if the token is not allowed.
 */
function follows(state: State, character: string, open: readonly string[]): State | undefined {
  switch (state) {
    case 'value':
    case 'first value':
      if (character === '{') return 'first name';
      if (character === '[') return 'first value';
      if (character === ']') return state === 'first value' ? afterValue(open.at(-2)) : undefined;
      return /[-"\dtfn]/.test(character) ? afterValue(open.at(-1)) : undefined;
    case 'first name':
    case 'name':
      if (character === '"') return 'colon';
      return character === '}' && state === 'first name' ? afterValue(open.at(-2)) : undefined;
    case 'colon':
      return character === ':' ? 'value' : undefined;
    case 'next member':
      if (character === ',') return 'name';
      return character === '}' ? afterValue(open.at(-2)) : undefined;
    case 'next entry':
      if (character === ',') return 'value';
      return character === ']' ? afterValue(open.at(-2)) : undefined;
    case 'end':
      return undefined;
  }
}

/**
 * Returns the state after a value in this container. Without a container, the value is the whole document.
 */
function afterValue(container: string | undefined): State {
  if (container === undefined) return 'end';
  return container === '{' ? 'next member' : 'next entry';
}

type TokenEnd = { readonly at: number; readonly fault?: string };

const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function endOfToken(text: string, at: number): TokenEnd {
  const character = text[at] ?? '';
  if (character === '"') return endOfString(text, at + 1);
  if (/[{}[\],:]/.test(character)) return { at: at + 1 };
  literal.lastIndex = at;
  return literal.test(text) ? { at: literal.lastIndex } : { at, fault: wanted.value };
}

const escaped = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** Returns the index after a string. @param from the index after the opening quotation mark */
function endOfString(text: string, from: number): TokenEnd {
  let at = from;
  while (at < text.length && text[at] !== '"') {
    if (text.charCodeAt(at) < 0x20) return { at, fault: 'a control character in a text must be escaped' };
    if (text[at] !== '\\') {
      at += 1;
      continue;
    }
    escaped.lastIndex = at;
    if (!escaped.test(text)) return { at, fault: 'the escape is unknown' };
    at = escaped.lastIndex;
  }
  return at < text.length ? { at: at + 1 } : { at, fault: 'the closing quotation mark of a text is missing' };
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at += 1;
  return at;
}

const notJson = (at: number, what: string): JsonFault => ({
  at,
  message: `is not JSON: ${what}`,
  code: 'structure',
});

/** Converts an index to line and column, which count lines and Unicode code points from 1, as editors do. */
export function placeIn(text: string, at: number): { line: number; column: number } {
  const lines = text.slice(0, at).split(/\r\n|\n|\r/);
  return { line: lines.length, column: Array.from(lines.at(-1) ?? '').length + 1 };
}

/** An error in a JSON text, and the index at which it occurs. */
export type JsonFault = {
  readonly at: number;
  /** Completes a sentence whose subject is "The body", for example `is not JSON: a value is required`. */
  readonly message: string;
  readonly code: FaultCode;
};
