/* Edits a JSON text, and preserves the order, the indentation and the line breaks of the unchanged text. */
import {
  applyEdits,
  findNodeAtLocation,
  format,
  type JSONPath,
  type ModificationOptions,
  modify,
  parseTree,
} from 'jsonc-parser';

/** Adds an entry to the array at a path. @throws Error if the array does not exist */
export const appendEntry = (text: string, path: JSONPath, entry: unknown): string =>
  change(text, [...path, -1], { value: entry, isArrayInsertion: true });

/** Sets a member, or replaces the value at a path. @throws Error if the parent is missing */
export const setValue = (text: string, path: JSONPath, value: unknown): string =>
  change(text, path, { value });

/** Removes the member or the entry at a path, with its comma. @throws TypeError if the path does not exist */
export function removeValue(text: string, path: JSONPath): string {
  const tree = parseTree(text);
  const found = tree === undefined ? undefined : findNodeAtLocation(tree, path);
  // The node of a member's value is below the node of the member.
  const node = found?.parent?.type === 'property' ? found.parent : found;
  const siblings = node?.parent?.children;
  if (node === undefined || siblings === undefined)
    throw new TypeError(`There is no value at ${path.join('.')}`);
  const at = siblings.indexOf(node);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  const end = node.offset + node.length;
  const [from, to] =
    after !== undefined
      ? [node.offset, after.offset]
      : [before === undefined ? node.offset : before.offset + before.length, end];
  return text.slice(0, from) + text.slice(to);
}

type Change = Pick<ModificationOptions, 'isArrayInsertion'> & { readonly value: unknown };

function change(text: string, path: JSONPath, { value, ...options }: Change): string {
  const [edit] = modify(text, path, value, options);
  if (edit === undefined) return text;
  const changed = applyEdits(text, [edit]);
  const end = edit.offset + edit.content.length;
  // Also formats the brackets, because the first entry between empty brackets moves the closing bracket to a
  // new line.
  const isAlone = /[[{]/.test(changed[edit.offset - 1] ?? '') && /[\]}]/.test(changed[end] ?? '');
  const [from, to] = isAlone ? [edit.offset - 1, end + 1] : [edit.offset, end];
  // Formats only the edited text, because `modify` would format the whole lines around it.
  const edits = format(changed, { offset: from, length: to - from }, indentationOf(text));
  const formatted = applyEdits(changed, edits);
  const newEnd = to + formatted.length - changed.length;
  return formatted.slice(0, from) + onOneLine(formatted.slice(from, newEnd)) + formatted.slice(newEnd);
}

function indentationOf(text: string) {
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  return {
    insertSpaces: unit.startsWith(' '),
    tabSize: unit.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}

const scalar = String.raw`(?:"(?:[^"\\]|\\.)*"|[-\w.+]+)`;
/**
 * Matches lists of scalars. A list contains line breaks, which distinguish it from the same characters in a
 * string.
 */
const scalarsOnly = new RegExp(String.raw`\[\s*\n\s*(${scalar}(?:,\s*\n\s*${scalar})*)\s*\n\s*\]`, 'g');

/** Returns JSON with arrays of scalars on one line. */
const onOneLine = (json: string) =>
  json.replace(scalarsOnly, (_array, entries: string) => `[${entries.replace(/,\s*\n\s*/g, ', ')}]`);
