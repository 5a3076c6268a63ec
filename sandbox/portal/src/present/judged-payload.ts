import type { Fault, FaultCode } from '@clinical-launch/contracts/fault';
import { offsetOf } from '@clinical-launch/process/operator-files';
import { parseTree } from 'jsonc-parser';

/** A fault with its position in the text of the payload. Lines and columns count from 1. */
type PlacedFault = {
  readonly line: number;
  readonly column: number;
  readonly sentence: string;
  readonly code: FaultCode;
  readonly rule: string;
};

/** A payload as a list of lines, and its faults in the order of the lines. */
type JudgedPayload = {
  readonly text: string;
  /** True if the payload was sent on one line, so that `text` is formatted. */
  readonly isFormatted: boolean;
  readonly faults: readonly PlacedFault[];
  readonly lines: readonly { number: number; text: string; faults: readonly PlacedFault[] }[];
  /** True if `lines` omits lines that are not near a fault. */
  readonly isShortened: boolean;
};

/** The maximum length of a payload that is formatted. Formatting makes a short, deeply nested text long. */
const maxFormatted = 1_000_000;
/** The maximum number of values of a payload that is formatted, and whose faults are placed. */
const maxValues = 20_000;
const maxLines = 2000;
/** The number of lines that are shown before and after a fault of a longer payload. */
const nearLines = 3;

/**
 * Finds the line of each fault that the launch API reported for a payload. Formats a payload on one line,
 * because otherwise all faults would be on that line.
 * @param sent the text of the payload, as it was sent
 */
export function judgedPayload(sent: string, faults: readonly Fault[]): JudgedPayload {
  // A fault without a path concerns the whole text: it may be invalid JSON, or nested too deeply to parse.
  // The launch API ignores a byte order mark, which JSON.parse refuses (RFC 8259 section 8.1).
  const payload = sent.replace(/^\uFEFF/, '');
  const isReadable =
    faults.every(({ path }) => path !== '') && payload.split(',', maxValues).length < maxValues;
  const isOneLine = isReadable && !/[\r\n]/.test(payload.trim());
  const formatted = isOneLine ? JSON.stringify(JSON.parse(payload), undefined, 2) : '';
  const isFormatted = isOneLine && formatted.length <= maxFormatted;
  const text = isFormatted ? formatted : payload;
  const root = isReadable && faults.length > 0 ? parseTree(text) : undefined;
  const starts = lineStartsIn(text);
  const placed = faults
    .map((fault): PlacedFault => {
      const { path, message, code } = fault;
      const place = statedPlace(fault) ?? placeOf(offsetOf(root, path) ?? root?.offset ?? 0, starts);
      // Messages about unreadable bodies already contain a subject: "The body is not JSON".
      const sentence = message.startsWith('The body ') ? message : `${path || 'The payload'} ${message}`;
      return { ...place, sentence, code, rule: faultRules[code] };
    })
    .toSorted((one, other) => one.line - other.line || one.column - other.column);
  const byLine = Map.groupBy(placed, ({ line }) => line);
  const isShortened = starts.length > maxLines;
  const around = [...Array(2 * nearLines + 1).keys()];
  const near = new Set([...byLine.keys()].flatMap((line) => around.map((by) => line - nearLines + by)));
  const lines = starts.flatMap((start, index) => {
    const number = index + 1;
    if (isShortened && !near.has(number)) return [];
    const content = text.slice(start, starts[number]).replace(/[\r\n]+$/, '');
    return [{ number, text: content, faults: byLine.get(number) ?? [] }];
  });
  return { text, isFormatted, faults: placed, lines, isShortened };
}

/** Returns the index at which each line begins. Its one loop is fast also for a text of line breaks only. */
function lineStartsIn(text: string): readonly number[] {
  const starts = [0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10)) starts.push(at + 1);
  }
  return starts;
}

function statedPlace({ path, message }: Fault) {
  const [, line, column] = (path === '' && /at line (\d+), column (\d+)$/.exec(message)) || [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column) };
}

function placeOf(at: number, starts: readonly number[]) {
  let [line, after] = [1, starts.length + 1];
  while (after - line > 1) {
    const middle = (line + after) >> 1;
    if ((starts[middle - 1] ?? 0) <= at) line = middle;
    else after = middle;
  }
  return { line, column: at - (starts[line - 1] ?? 0) + 1 };
}

/**
 * The rule that a payload breaks, by the code of its fault. The message of a fault adds the limit or the valid
 * values.
 */
const faultRules: Readonly<Record<FaultCode, string>> = {
  structure: 'The payload is one JSON object in UTF-8, and each value has the JSON type of its element.',
  required: 'Each element that the specification requires is present.',
  value: 'Each value has the form of its element, such as a date that exists.',
  'code-invalid': 'The value is one of the values that the specification lists.',
  'too-long': 'A text has at most as many characters as its element allows.',
  invariant: 'The entries of a list are consistent. For example, a patient has exactly one usual name.',
  duplicate: 'An object contains each member once, and contained resources have different ids.',
  'not-found': 'Each reference refers to a resource in contained.',
  'multiple-matches': 'Each reference refers to exactly one resource.',
  'business-rule': 'The value is agreed with the operator. A sandbox client sends synthetic patients only.',
  'not-supported': 'The service supports the request.',
  'too-costly': 'The payload contains only elements of the specification, and is not deeply nested.',
};
