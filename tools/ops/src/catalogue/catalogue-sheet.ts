import { type CsvRow, parseCsv } from '@clinical-launch/trust/directory-csv';

/**
 * The test of a row, in the form of the catalogue file. The content is checked later, with the whole
 * catalogue.
 */
export type SheetTest = { readonly code: string } & Readonly<Record<string, unknown>>;

type Reading = { readonly value: unknown } | { readonly message: string };

const text = (cell: string): Reading => ({ value: cell });

const whole = (cell: string): Reading =>
  /^\d{1,5}$/.test(cell) ? { value: Number(cell) } : { message: 'must be a number' };

const yesOrNo = (cell: string): Reading =>
  /^(?:yes|no)$/i.test(cell) ? { value: cell.toLowerCase() === 'yes' } : { message: 'must be yes or no' };

const list = (cell: string): Reading => ({ value: partsOf(cell) });

const partsOf = (cell: string) =>
  cell
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Reads the questions of a test: `anticoagulant!; fasting`. The sign `!` marks a required question. */
const asks = (cell: string): Reading => ({
  value: partsOf(cell).map((part) =>
    part.endsWith('!') ? { question: part.slice(0, -1).trim(), isRequired: true } : { question: part },
  ),
});

const signs = { '@': 'site', '?': 'siteQuestion', '#': 'timing' } as const;

/**
 * Reads the samples of a test: `citrate; swab-viral @ Throat; swab-viral ? lesion-site; fluoride # fasting`.
 * The signs introduce a site, a question for the site, and a timing.
 */
const samples = (cell: string): Reading => ({
  value: partsOf(cell).map((part) => {
    const [container = '', ...rest] = part.split(/(?=[@?#])/);
    const details = rest.map((each) => [signs[each[0] as keyof typeof signs], each.slice(1).trim()]);
    return { container: container.trim(), ...Object.fromEntries(details) };
  }),
});

/** The reader of each column. `of` names the object within the test that contains the value, if any. */
const columns: Readonly<Record<string, { readonly read: (cell: string) => Reading; readonly of?: string }>> =
  {
    code: { read: text },
    name: { read: text },
    group: { read: text },
    location: { read: text },
    abbreviation: { read: text },
    note: { read: text },
    snomed: { read: text },
    synonyms: { read: list },
    finds: { read: list },
    covers: { read: list },
    samples: { read: samples },
    asks: { read: asks },
    minimumIntervalDays: { read: whole },
    needsClinicalDetails: { read: yesOrNo },
    telephoneFirst: { read: yesOrNo },
    noteWarns: { read: yesOrNo },
    sex: { read: text, of: 'appliesTo' },
    ageFrom: { read: whole, of: 'appliesTo' },
    ageTo: { read: whole, of: 'appliesTo' },
    modality: { read: text, of: 'imaging' },
    hasSides: { read: yesOrNo, of: 'imaging' },
    hasContrast: { read: yesOrNo, of: 'imaging' },
  };

/** The columns that a spreadsheet may have. */
export const sheetColumns: readonly string[] = Object.keys(columns);

const required = ['code', 'name', 'group', 'location'];

/**
 * Reads the tests of a spreadsheet saved as CSV (RFC 4180), whose first line contains the column names. Empty
 * cells are ignored.
 * @throws TypeError with the line of a stray quote
 */
export function readCatalogueSheet(csv: string): { readonly tests: SheetTest[]; readonly faults: string[] } {
  const [first, ...rows] = parseCsv(csv);
  const names = (first?.fields ?? []).map((name) => name.trim());
  const faults = [
    ...required.filter((name) => !names.includes(name)).map((name) => `line 1 must have the column ${name}`),
    ...names
      .filter((name) => !Object.hasOwn(columns, name))
      .map((name) => `line 1 has an unknown column: ${JSON.stringify(name)}`),
    ...names
      .filter((name, at) => names.indexOf(name) !== at)
      .map((name) => `line 1 has the column ${name} twice`),
  ];
  if (faults.length > 0) return { tests: [], faults };
  const read = rows.map((row) => readRow(row, names));
  const lineOf = new Map<string, number>();
  const repeated = read.flatMap(({ test: { code } }, at) => {
    const line = rows[at]?.line ?? 1;
    const before = lineOf.get(code);
    lineOf.set(code, before ?? line);
    return before === undefined ? [] : [`line ${line} repeats the code of line ${before}`];
  });
  return {
    tests: read.map(({ test }) => test),
    faults: [...read.flatMap((each) => each.faults), ...repeated],
  };
}

function readRow({ line, fields }: CsvRow, names: readonly string[]) {
  const faults: string[] = [];
  const test: Record<string, unknown> & { code: string } = { code: '' };
  if (fields.length !== names.length) faults.push(`line ${line} must have ${names.length} fields`);
  for (const [at, name] of names.entries()) {
    const cell = fields[at]?.trim() ?? '';
    const column = columns[name];
    if (column === undefined) continue;
    if (cell === '') {
      if (required.includes(name)) faults.push(`line ${line} must have a ${name}`);
      continue;
    }
    const reading = column.read(cell);
    if ('message' in reading) faults.push(`line ${line} ${name} ${reading.message}`);
    else if (column.of === undefined) test[name] = reading.value;
    else test[column.of] = { ...(test[column.of] as object | undefined), [name]: reading.value };
  }
  return { test, faults };
}
