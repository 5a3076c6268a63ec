import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** A test that the hazard table lists as the proof that a control of a hazard works. */
type Control = { readonly hazard: string; readonly file: string; readonly title: string };

/** A control whose test did not pass in this run. */
export type UnshownControl = Control & { readonly reason: 'absent' | 'skipped' | 'failed' };

type TestResult = { readonly fullName: string; readonly status: string };

/** The parts of Jest's results that this module reads, and the member that it adds for `--json`. */
type Results = {
  readonly testResults: readonly {
    readonly testFilePath: string;
    readonly testResults: readonly TestResult[];
  }[];
  unshownControls?: readonly UnshownControl[];
};

type Options = {
  /** The path of the hazard table. */
  readonly table: string;
  /** The test files of this tier. `otherFiles` are the test files of every other tier. */
  readonly files: readonly string[];
  readonly otherFiles: readonly string[];
};

const hazardLine = /^### (H\d+ .+)$/;
const controlLine = /^- \[[^\]]+\]\(([^)#]+\.test\.ts)\) › (.+)$/;

/**
 * Reads the controls of each hazard: the list below its heading, whose items are `[file](path) › title`. The
 * title is the full name of a test. A placeholder of `it.each` in a title stands for any text.
 * @throws Error if an item has another form, a hazard has no control, or two hazards have the same number
 */
export function readControls(table: string): Control[] {
  const controls: Control[] = [];
  const numbers = new Set<string>();
  for (const section of readFileSync(table, 'utf8').split(/^(?=##)/m)) {
    const [heading = '', ...lines] = section.split('\n');
    const hazard = hazardLine.exec(heading)?.[1];
    if (hazard === undefined) continue;
    const number = hazard.split(' ', 1)[0] ?? '';
    if (numbers.has(number)) throw new Error(`${table}: two hazards have the number ${number}`);
    numbers.add(number);
    const items = lines.filter((line) => line.startsWith('- '));
    if (items.length === 0) throw new Error(`${table}: no test shows a control of ${hazard}`);
    for (const item of items) {
      const [, path, title] = controlLine.exec(item) ?? [];
      if (path === undefined || title === undefined)
        throw new Error(`${table}: write “- [file](path of a .test.ts) › title of a test”, not ${item}`);
      controls.push({ hazard, file: join(dirname(table), path), title: title.trim() });
    }
  }
  return controls;
}

/** Returns a pattern for a title as the source contains it, with placeholders of `it.each`. */
function patternOf(title: string): RegExp {
  const texts = title.split(/%[a-z#]|\$\w+/).map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${texts.join('.*')}$`, 's');
}

function reasonOf(title: string, results: readonly TestResult[]): UnshownControl['reason'] | undefined {
  const pattern = patternOf(title);
  const statuses = results.filter(({ fullName }) => pattern.test(fullName)).map(({ status }) => status);
  if (statuses.length === 0) return 'absent';
  if (statuses.includes('failed')) return 'failed';
  return statuses.every((status) => status === 'passed') ? undefined : 'skipped';
}

/** Prints each hazard that has a control whose test did not pass, with these tests. */
export function writeUnshown(unshown: readonly UnshownControl[]): void {
  const byHazard = Object.groupBy(unshown, ({ hazard }) => hazard);
  for (const [hazard, controls = []] of Object.entries(byHazard)) {
    process.stderr.write(`\nHazard without its control: ${hazard}\n`);
    for (const { reason, file, title } of controls)
      process.stderr.write(`  ${reason}: ${relative('.', file)} › ${title}\n`);
  }
}

/**
 * A Jest reporter that fails the run if a test in the hazard table is absent, skipped or failed, and names
 * the hazard. If all files of a tier ran, it checks every test that the table lists for the tier, otherwise
 * only the tests of the files that ran. If `-t` selected tests by their titles, it checks nothing.
 */
export default class HazardReporter {
  readonly #selectsTitles: boolean;
  readonly #options: Options;
  #error: Error | undefined;

  constructor({ testNamePattern }: { readonly testNamePattern?: string }, options: Options) {
    this.#selectsTitles = testNamePattern !== undefined && testNamePattern !== '';
    this.#options = options;
  }

  onRunComplete(_contexts: unknown, results: Results): void {
    if (this.#selectsTitles) return;
    const { table, files, otherFiles } = this.#options;
    const ran = new Map(results.testResults.map((file) => [file.testFilePath, file.testResults]));
    const isWhole = files.every((file) => ran.has(file));
    const isJudged = (file: string) => (isWhole ? !otherFiles.includes(file) : ran.has(file));
    const unshown = readControls(table).flatMap((control): UnshownControl[] => {
      if (!isJudged(control.file)) return [];
      const reason = reasonOf(control.title, ran.get(control.file) ?? []);
      return reason === undefined ? [] : [{ ...control, reason }];
    });
    results.unshownControls = unshown;
    writeUnshown(unshown);
    if (unshown.length > 0) this.#error = new Error('The run does not show every control of the hazards');
  }

  /** Jest calls this method after the run. An error makes the run fail. */
  getLastError(): Error | undefined {
    return this.#error;
  }
}
