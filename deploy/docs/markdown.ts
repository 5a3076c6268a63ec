import { basename, dirname } from 'node:path';
import type { CitedTests } from './rows.ts';
import type { Section, TableDocument, TableRow } from './tables.ts';

/** Returns a document as `docs/<file>.md`: tables that GitHub shows, with the links to files at the end. */
export function markdownOf(document: TableDocument): string {
  const { title, file, about, sections } = document;
  const names = linkNames(sections.flatMap(({ rows }) => rows.flatMap(filesOf)));
  const definitions = [...names].map(([path, name]) => `[${name}]: ../${path}`).toSorted();
  const parts = sections.flatMap((section) => [
    `${'#'.repeat(section.level)} ${section.heading}`,
    ...(section.about === undefined ? [] : [fromDocs(section.about)]),
    ...(section.rows.length === 0 ? [] : [tableOf(document, section, names)]),
  ]);
  return `${[
    `<!-- Written by \`npm run docs\` from the ${file}.yaml files beside the tests. Change those instead. -->`,
    `# ${title}`,
    ...about.map(fromDocs),
    `[The same as a page that can be filtered](${file}.html). Written by \`npm run docs\` from the ${file}.yaml files beside the tests.`,
    ...parts,
    definitions.join('\n'),
  ].join('\n\n')}\n`;
}

function tableOf({ heads }: TableDocument, { rows }: Section, names: ReadonlyMap<string, string>): string {
  const titles = [heads.name, heads.text, ...(heads.code === undefined ? [] : [heads.code]), 'held by'];
  const linked = (path: string) => `[${names.get(path)}]`;
  const lines = rows.map((row) => [
    row.name,
    fromDocs(row.text) + (row.record === undefined ? '' : ` ([why](${fromDocs(`/${row.record}`)}))`),
    ...(heads.code === undefined ? [] : [row.code.map(linked).join(', ')]),
    row.tests.length === 0 ? `none: ${row.noTest}` : row.tests.map((one) => quoted(one, linked)).join('; '),
  ]);
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...lines.map(line)].join('\n');
}

const line = (cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

function quoted({ file, titles }: CitedTests, linked: (path: string) => string): string {
  const quotations = titles.map((one) => {
    if (typeof one === 'string') return `“${one}”`;
    return [`“${one.title}”`, ...one.rows.map((row) => `‘${row}’`)].join(' ');
  });
  return `${linked(file)} ${quotations.join(', ')}`;
}

const filesOf = ({ code, tests }: TableRow) => [...code, ...tests.map(({ file }) => file)];

/**
 * Names each file for its links: `delivery.test`, or with folders where that is ambiguous (`pms-simulator`).
 */
function linkNames(paths: readonly string[]): ReadonlyMap<string, string> {
  const all = [...new Set(paths)].toSorted();
  return new Map(all.map((path) => [path, shortestName(path, all)]));
}

function shortestName(path: string, all: readonly string[]): string {
  const parts = nameParts(path);
  const names = parts.map((_, at) => parts.slice(-1 - at).join('-'));
  const isAmbiguous = (name: string) =>
    all.filter((other) => `-${nameParts(other).join('-')}`.endsWith(`-${name}`)).length > 1;
  return names.find((name) => !isAmbiguous(name)) ?? path;
}

/** The folders of a file that say what it is, and its name. */
function nameParts(path: string): string[] {
  const folders = dirname(path)
    .split('/')
    .filter((folder) => !['src', 'test', 'tests'].includes(folder));
  const name = basename(path, '.ts');
  // A module with tests that several files run (`tickets-contract.ts`) holds a row as a test does.
  return [...folders, /\/tests?\//.test(path) && !name.endsWith('.test') ? `${name}.test` : name];
}

/** Makes links to paths from the root relative to `docs/`. */
export const fromDocs = (text: string): string =>
  text.replace(/(^|\]\()\/(docs\/)?/g, (_, before: string, docs?: string) =>
    docs === undefined ? `${before}../` : before,
  );
