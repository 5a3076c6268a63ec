import type { CitedTests, ConformanceRow, DecisionRow, Outline } from './rows.ts';

/** One row of a generated document. */
export type TableRow = {
  readonly name: string;
  readonly text: string;
  /** Paths from the root. */
  readonly code: readonly string[];
  readonly record?: string;
  readonly tests: readonly CitedTests[];
  /** Why there is no test, where `tests` is empty. */
  readonly noTest?: string;
  readonly package: string;
};

/** A heading with its rows, or with the sections below it. */
export type Section = {
  readonly heading: string;
  /** 1 for a specification, 2 and 3 for its sections. */
  readonly level: number;
  /** `OLTR / Limits`: its place, for a filter. */
  readonly place: string;
  readonly about?: string;
  readonly rows: readonly TableRow[];
};

/** What both forms of a generated document, Markdown and page, are written from. */
export type TableDocument = {
  readonly title: string;
  /** The file name of each form, without its ending. */
  readonly file: string;
  /**
   * Paragraphs. Links lead to paths from the root, as in every text of a row: `[errors](/docs/errors.md)`.
   */
  readonly about: readonly string[];
  readonly heads: { readonly name: string; readonly text: string; readonly code?: string };
  readonly sections: readonly Section[];
};

const howTestsAreQuoted =
  'A test is quoted by its title in “ ”, and a row of a table of tests by its name in ‘ ’. “group › title” is a title within a group. A test of this repository checks that each of them exists.';

/**
 * Returns the decisions by topic.
 * @throws Error that lists every row with an unknown topic, without evidence, or with the question of another
 * row.
 */
export function decisionTable({ topics }: Outline, decisions: readonly DecisionRow[]): TableDocument {
  const nameOf = ({ topic, question }: DecisionRow) => `${topic} / ${question}`;
  reject([
    ...decisions.filter(({ topic }) => !topics.includes(topic)).map((row) => `${nameOf(row)}: unknown topic`),
    ...repeated(decisions.map(nameOf)),
    ...withoutEvidence(decisions, nameOf),
  ]);
  return {
    title: 'Decisions',
    file: 'decisions',
    about: [
      'What we do where the specifications are silent or can be read in two ways, and what we decided while building. [The records](/docs/decisions/README.md) give context and alternatives for the questions that people ask most.',
      howTestsAreQuoted,
      'What we do about each row of the specifications is [on the page of conformance](/docs/conformance.md).',
    ],
    heads: { name: 'question', text: 'decision' },
    sections: topics.map((topic) => ({
      heading: topic,
      level: 2,
      place: topic,
      rows: decisions
        .filter((row) => row.topic === topic)
        .map((row) => ({ ...row, name: row.question, text: row.decision, code: [] })),
    })),
  };
}

/**
 * Returns what we do about each row of the specifications, in their order.
 * @throws Error that lists every row of the outline without an entry, every entry without a place in it, and
 * those
 *   without evidence.
 */
export function conformanceTable(
  { specifications }: Outline,
  entries: readonly ConformanceRow[],
): TableDocument {
  const entriesBySpec = new Map(entries.map((entry) => [entry.spec, entry]));
  const sections = specifications.flatMap(({ name, title, about, sections: parts }) => [
    { heading: title, level: 1, place: `${name} / `, ...(about !== undefined && { about }), specs: [] },
    ...parts.map(({ heading, within, rows, about: introduction }) => ({
      heading,
      level: within === undefined ? 2 : 3,
      place: `${name} / ${heading}`,
      ...(introduction !== undefined && { about: introduction }),
      specs: rows.map((row) => ({ name: row, spec: `${name} / ${heading} / ${row}` })),
    })),
  ]);
  const outlined = sections.flatMap(({ specs }) => specs.map(({ spec }) => spec));
  reject([
    ...outlined.filter((spec) => !entriesBySpec.has(spec)).map((spec) => `${spec}: in no conformance.yaml`),
    ...entries
      .filter(({ spec }) => !outlined.includes(spec))
      .map(({ spec }) => `${spec}: not in the outline`),
    ...repeated(outlined),
    ...repeated(entries.map(({ spec }) => spec)),
    ...withoutEvidence(entries, ({ spec }) => spec),
  ]);
  return {
    title: 'Conformance',
    file: 'conformance',
    about: [
      'Each row and each rule of the two specifications, under their own headings: what we do, the code, and the test that holds it.',
      howTestsAreQuoted,
      'What we do where the specifications say nothing is [on the page of decisions](/docs/decisions.md).',
    ],
    heads: { name: 'row', text: 'what we do', code: 'code' },
    sections: sections.map(({ specs, ...section }) => ({
      ...section,
      rows: specs.flatMap(({ name, spec }) => {
        const entry = entriesBySpec.get(spec);
        return entry === undefined ? [] : [{ ...entry, name, text: entry.does, code: entry.implementedIn }];
      }),
    })),
  };
}

const repeated = (names: readonly string[]) =>
  names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${name}: is there twice`);

/** A row has tests or says why it has none, and not both. */
function withoutEvidence<Row extends DecisionRow | ConformanceRow>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
): string[] {
  return rows
    .filter(({ tests, noTest }) => (tests.length === 0) !== (noTest !== undefined))
    .map((row) => `${nameOf(row)}: needs tests, or noTest with the reason`);
}

function reject(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n'));
}
