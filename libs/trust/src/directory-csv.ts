import {
  type Directory,
  directoryError,
  directoryFaults,
  parseDirectory,
} from '@clinical-launch/contracts/directory';
import type { FileFault } from '@clinical-launch/contracts/fault';

const header = 'kind,system,value,practice';
const listNames = { practice: 'practices', performer: 'performers', clinician: 'clinicians' } as const;

type Kind = keyof typeof listNames;
/** An entry as in the JSON form of a directory, with the lines of its rows. */
type Listed = {
  readonly entry: { readonly system: string; readonly code: string; users?: string[]; editors?: string[] };
  readonly line: number;
  readonly userLines: number[];
  readonly editorLines: number[];
};
type Lists = { readonly [Name in (typeof listNames)[Kind]]: Listed[] };
type LineFault = { readonly line: number; readonly message: string };

/**
 * Reads a directory as CSV (RFC 4180) with the header `kind,system,value,practice`. A row of the kind
 * practice, performer or clinician is an entry. A row of the kind user contains the login name of a user of a
 * practice, and the code of the practice. A row of the kind editor contains the login name of a user who may
 * change the favourites and order sets of the practice. In rows of these two kinds, `system` is the system of
 * the practice's code. It is needed only if two practices have the same code.
 * @throws TypeError that lists every error by its line, without values
 */
export function parseDirectoryCsv(text: string): Directory {
  const [first, ...rows] = parseCsv(text);
  if (first?.fields.join(',') !== header) throw directoryError([`line 1 must be ${header}`]);
  const lists: Lists = { practices: [], performers: [], clinicians: [] };
  const users = rows.filter(({ fields: [kind] }) => isOfUser(kind));
  const ofRows = [...rows.flatMap((row) => listEntry(row, lists)), ...listUsers(users, lists.practices)];
  const candidate = Object.fromEntries(
    Object.entries(lists)
      .filter(([, listed]) => listed.length > 0)
      .map(([name, listed]) => [name, listed.map(({ entry }) => entry)]),
  );
  const faults = [...ofRows, ...directoryFaults(candidate).map((fault) => toLineFault(fault, lists))];
  if (faults.length === 0) return parseDirectory(candidate);
  const inOrder = faults.toSorted((one, other) => one.line - other.line);
  throw directoryError(inOrder.map(({ line, message }) => `line ${line} ${message}`));
}

/** Adds the entry of a row to its list, and returns the row's errors. Skips rows of users and editors. */
function listEntry({ line, fields }: CsvRow, lists: Lists): LineFault[] {
  const [kind = '', system = '', code = '', practice] = fields;
  if (fields.length !== 4) return [{ line, message: 'must have 4 fields' }];
  if (isOfUser(kind)) return [];
  if (!isKind(kind))
    return [{ line, message: 'kind must be one of practice, user, editor, performer, clinician' }];
  lists[listNames[kind]].push({ entry: { system, code }, line, userLines: [], editorLines: [] });
  return practice === ''
    ? []
    : [{ line, message: 'practice must be empty, except in rows of users and editors' }];
}

const isOfUser = (kind: string | undefined) => kind === 'user' || kind === 'editor';

const isKind = (kind: string): kind is Kind => Object.hasOwn(listNames, kind);

function listUsers(rows: readonly CsvRow[], practices: readonly Listed[]): LineFault[] {
  const byCode = Map.groupBy(practices, ({ entry }) => entry.code);
  return rows.flatMap(({ line, fields }) => {
    const [kind, system = '', name = '', code = ''] = fields;
    if (fields.length !== 4) return [];
    const named = (byCode.get(code) ?? []).filter(({ entry }) => system === '' || entry.system === system);
    const [practice, ...others] = named;
    if (practice === undefined)
      return [{ line, message: 'practice must be the code of a practice in this file' }];
    if (others.length > 0)
      return [
        { line, message: 'system must be that of the practice, because several practices have this code' },
      ];
    const [member, lines] =
      kind === 'editor' ? (['editors', 'editorLines'] as const) : (['users', 'userLines'] as const);
    (practice.entry[member] ??= []).push(name);
    practice[lines].push(line);
    return [];
  });
}

/** Converts the error of an entry, such as `practices[3].code`, into an error with its line and column. */
function toLineFault({ path, message }: FileFault, lists: Lists): LineFault {
  const found =
    /^(practices|performers|clinicians)\[(\d+)\](?:\.(users|editors)\[(\d+)\])?(?:\.(\w+))?$/.exec(path);
  if (found === null) return { line: 1, message };
  const [, list, at, of, user, member] = found;
  const listed = lists[list as keyof Lists][Number(at)];
  const userLines = of === 'editors' ? listed?.editorLines : listed?.userLines;
  const line = (user === undefined ? listed?.line : userLines?.[Number(user)]) ?? 1;
  const column = user === undefined && member !== 'code' ? member : 'value';
  return { line, message: column === undefined ? message : `${column} ${message}` };
}

/** A row of a CSV text. `line` is the line in which the row begins, counted from 1. */
export type CsvRow = { readonly line: number; readonly fields: readonly string[] };

/** Matches one field and its terminator: a comma, the end of the line, or the end of the text. */
const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;

/**
 * Reads CSV (RFC 4180): fields in double quotes may contain commas, line ends and doubled quotes. Skips a
 * byte order mark and empty lines.
 * @throws TypeError that names the line of a stray quote, without values
 */
export function parseCsv(text: string): CsvRow[] {
  const rows: CsvRow[] = [];
  let fields: string[] = [];
  let [line, begin] = [1, 1];
  field.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
  while (field.lastIndex < text.length || fields.length > 0) {
    const found = field.exec(text);
    if (found === null)
      throw new TypeError(`line ${line} contains a quotation mark that is not allowed there`);
    const [whole, quoted, plain = '', end] = found;
    fields.push(quoted?.replaceAll('""', '"') ?? plain);
    line += whole.match(/\r\n|\n|\r/g)?.length ?? 0;
    if (end === ',') continue;
    if (fields.length > 1 || fields[0] !== '') rows.push({ line: begin, fields });
    fields = [];
    begin = line;
  }
  return rows;
}
