import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { findJsonSyntaxFault, placeIn } from '@clinical-launch/http/json-syntax';
import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';

/**
 * Writes a file as a whole: an interrupted command leaves the previous file, or none.
 * @throws Error from the system
 */
export function replaceFile(path: string, text: string, mode = 0o666): void {
  const draft = `${path}.${randomUUID()}.new`;
  try {
    writeFileSync(draft, text, { flag: 'wx', mode });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Runs the reader of a JSON text, and adds line and column to its errors.
 * @param read throws a SyntaxError for text that is not JSON, and a TypeError whose lines after the first
 * begin with the path of a value, such as `realms[0].realm must …`
 * @throws TypeError with the position of the first syntax error, or of every value
 */
export function readJsonText<Content>(text: string, read: () => Content): Content {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) {
      // The message of JSON.parse quotes the text, which may contain secrets.
      const { at, message } = findJsonSyntaxFault(text);
      throw new TypeError(`The file ${message}, at ${writtenPosition(text, at)}`);
    }
    if (!(error instanceof TypeError)) throw error;
    const [title = '', ...faults] = error.message.split('\n');
    const located = locateFaults(
      text,
      faults.map((fault) => fault.trim()),
    );
    throw new TypeError([title, ...located.map((fault) => `  ${fault}`)].join('\n'), { cause: error });
  }
}

/** Adds line and column to each fault that begins with the path of a value in a JSON text. */
export function locateFaults(text: string, faults: readonly string[]): string[] {
  const root = parseTree(text);
  return faults.map((fault) => {
    const at = offsetOf(root, fault.split(' ')[0] ?? '');
    return at === undefined ? fault : `${writtenPosition(text, at)}: ${fault}`;
  });
}

function writtenPosition(text: string, at: number): string {
  const { line, column } = placeIn(text, at);
  return `line ${line}, column ${column}`;
}

/**
 * Returns the index at which the value at a path begins or, if it is missing, the index of its nearest parent.
 * Returns undefined if the text has no part of the path.
 * @param path such as `contained[1].name[0]`
 */
export function offsetOf(root: Node | undefined, path: string): number | undefined {
  const segments = Array.from(path.matchAll(/\[(\d+)\]|[^.[\]]+/g), ([name, entry]) =>
    entry === undefined ? name : Number(entry),
  );
  // The whole path may be one name, such as the id of a requirement.
  const paths = [[path], ...segments.map((_, index) => segments.slice(0, segments.length - index))];
  for (const one of paths) {
    const node = root && findNodeAtLocation(root, one);
    if (node !== undefined) return node.parent?.type === 'property' ? node.parent.offset : node.offset;
  }
  return undefined;
}
