import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** A test that a document names as the proof of a claim: a hazard, or a row of the conformance table. */
type Evidence = { readonly claim: string; readonly file: string; readonly title: string };

/** Evidence whose test did not pass in this run. */
export type UnshownEvidence = Evidence & { readonly reason: 'absent' | 'skipped' | 'failed' };

type TestResult = { readonly fullName: string; readonly status: string };

/** The parts of Jest's results that this module reads, and the member that it adds for `--json`. */
type Results = {
  readonly testResults: readonly {
    readonly testFilePath: string;
    readonly testResults: readonly TestResult[];
  }[];
  unshownEvidence?: readonly UnshownEvidence[];
};

type Options = {
  /** The paths of the hazard log and of the conformance table. */
  readonly documents: readonly string[];
  /** The test files of this tier. `otherFiles` are the test files of every other tier. */
  readonly files: readonly string[];
  readonly otherFiles: readonly string[];
};

const hazardHeading = /^### (?=H\d+ )/;
const evidenceForm = /^\[[^\]]+\]\(([^)#]+\.test\.ts)\) › (.+)$/;

/** Returns the cells of a row of a Markdown table. */
const cellsOf = (row: string) =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

type Claim = { readonly name: string; readonly items: readonly string[] };

/**
 * Returns the claims of a section. A hazard is one claim: its items are the list below the heading. In any
 * other section, each table row is a claim: its items are in the last cell. Rows of two cells are decisions,
 * and the last cell `–` says that there is nothing to test.
 */
function claimsOf(section: string): Claim[] {
  const [heading = '', ...lines] = section.split('\n');
  const name = heading.replace(/^#+ /, '');
  if (hazardHeading.test(heading)) {
    const items = lines.filter((line) => line.startsWith('- '));
    return [{ name, items: items.map((item) => item.slice(2)) }];
  }
  const [, , ...rows] = lines.filter((line) => line.startsWith('|')).map(cellsOf);
  return rows
    .filter((cells) => cells.length > 2 && cells.at(-1) !== '–')
    .map((cells) => ({
      name: `${name}: ${cells[0]}`,
      items: (cells.at(-1) ?? '').split('<br>'),
    }));
}

/**
 * Reads the evidence of each claim in a document. Its form is `[file](path) › title`. The title is the full
 * name of a test. A placeholder of `it.each` or of a template in a title stands for any text.
 * @throws Error if an item has another form, a hazard has no item, two claims have the same name or number,
 *   or the document contains no claim
 */
export function readEvidence(document: string): Evidence[] {
  const claims = readFileSync(document, 'utf8')
    .split(/^(?=#)/m)
    .flatMap(claimsOf);
  if (claims.length === 0) throw new Error(`${document}: no hazard and no row with tests`);
  const numbers = new Set<string>();
  return claims.flatMap(({ name, items }) => {
    const number = /^H\d+(?= )/.exec(name)?.[0] ?? name;
    if (numbers.has(number)) throw new Error(`${document}: two claims have the name ${number}`);
    numbers.add(number);
    if (items.length === 0) throw new Error(`${document}: no title of a test shows ${name}`);
    return items.map((item) => {
      const [, path, title] = evidenceForm.exec(item) ?? [];
      if (path === undefined || title === undefined)
        throw new Error(`${name}: write “[file](path of a .test.ts) › title of a test”, not ${item}`);
      const plainTitle = title.trim().replace(/\\([|<])/g, '$1');
      return { claim: name, file: join(dirname(document), path), title: plainTitle };
    });
  });
}

/** Returns a pattern for a title as the source contains it, with placeholders of `it.each`. */
function patternOf(title: string): RegExp {
  const texts = title
    .split(/%[a-z#]|\$\w+|\$\{[^}]+\}/)
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${texts.join('.*')}$`, 's');
}

function reasonOf(title: string, results: readonly TestResult[]): UnshownEvidence['reason'] | undefined {
  const pattern = patternOf(title);
  const statuses = results.filter(({ fullName }) => pattern.test(fullName)).map(({ status }) => status);
  if (statuses.length === 0) return 'absent';
  if (statuses.includes('failed')) return 'failed';
  return statuses.every((status) => status === 'passed') ? undefined : 'skipped';
}

/** Prints each claim whose tests did not all pass, with the tests that did not pass. */
export function writeUnshown(unshown: readonly UnshownEvidence[]): void {
  const byClaim = Object.groupBy(unshown, ({ claim }) => claim);
  for (const [claim, evidence = []] of Object.entries(byClaim)) {
    process.stderr.write(`\nClaim without its test: ${claim}\n`);
    for (const { reason, file, title } of evidence)
      process.stderr.write(`  ${reason}: ${relative('.', file)} › ${title}\n`);
  }
}

/**
 * A Jest reporter that fails the run if a test that the hazard log or the conformance table names is absent,
 * skipped or failed, and names the hazard or the row. If all files of a tier ran, it checks every test that
 * the documents list for the tier, otherwise only the tests of the files that ran. If `-t` selected tests by
 * their titles, it checks nothing.
 */
export default class EvidenceReporter {
  readonly #selectsTitles: boolean;
  readonly #options: Options;
  #error: Error | undefined;

  constructor({ testNamePattern }: { readonly testNamePattern?: string }, options: Options) {
    this.#selectsTitles = testNamePattern !== undefined && testNamePattern !== '';
    this.#options = options;
  }

  onRunComplete(_contexts: unknown, results: Results): void {
    if (this.#selectsTitles) return;
    const { documents, files, otherFiles } = this.#options;
    const ran = new Map(results.testResults.map((file) => [file.testFilePath, file.testResults]));
    const isWhole = files.every((file) => ran.has(file));
    const isJudged = (file: string) => (isWhole ? !otherFiles.includes(file) : ran.has(file));
    const unshown = documents.flatMap(readEvidence).flatMap((evidence): UnshownEvidence[] => {
      if (!isJudged(evidence.file)) return [];
      const reason = reasonOf(evidence.title, ran.get(evidence.file) ?? []);
      return reason === undefined ? [] : [{ ...evidence, reason }];
    });
    results.unshownEvidence = unshown;
    writeUnshown(unshown);
    if (unshown.length > 0)
      this.#error = new Error('The run does not show every hazard control and conformance row');
  }

  /** Jest calls this method after the run. An error makes the run fail. */
  getLastError(): Error | undefined {
    return this.#error;
  }
}
