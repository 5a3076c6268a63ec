import { parseCatalogue } from '@clinical-launch/ordering/domain/catalogue';
import { safetyFaults, safetyWarnings } from '@clinical-launch/ordering/domain/catalogue-safety';
import { type Argument, type Option, readText } from '@clinical-launch/process/command-line';
import { locateFaults, readJsonText, replaceFile } from '@clinical-launch/process/operator-files';
import { type Group, type Outcome, requiredOption } from '../command.ts';
import { readCatalogueSheet, type SheetTest } from './catalogue-sheet.ts';

const file: Argument = { name: 'file', summary: 'A catalogue file, as for CATALOGUE_FILE' };
const sheet: Argument = { name: 'csv file', summary: 'A spreadsheet saved as CSV, with one row per test' };
const into: Option = {
  name: 'into',
  value: 'file',
  summary: 'The catalogue to which the tests are written',
};

/** `./clinical-launch catalogue` */
export const catalogue: Group = {
  commands: {
    check: {
      summary: 'Checks the form, the references and the safety rules of a catalogue.',
      example: 'catalogue.json',
      arguments: [file],
      async run({ arguments: [path = ''] }) {
        const text = readText(path);
        const { faults, warnings, tests } = checkCatalogue(parseJson(text));
        return outcomeOf(locateFaults(text, faults), {
          lines: [`${path} has ${tests} tests and no faults`, ...warnings.map((each) => `warning: ${each}`)],
          result: { tests, warnings },
        });
      },
    },
    import: {
      summary: 'Replaces and adds tests in a catalogue, and writes it only if it has no faults.',
      example: 'tests.csv --into catalogue.json',
      details: 'The columns of the spreadsheet are described in docs/reference/operator-files.md.',
      arguments: [sheet],
      options: [into],
      async run({ arguments: [path = ''], options, progress }) {
        const target = requiredOption(options, into);
        const { tests, faults: rowFaults } = readSheet(readText(path));
        if (rowFaults.length > 0) return outcomeOf(rowFaults);
        const text = readText(target);
        const before = parseJson(text);
        const form = checkCatalogue(before);
        if (form.tests === 0) return outcomeOf(locateFaults(text, form.faults));
        progress(`adding ${tests.length} tests to ${form.tests} tests`);
        const after = withTests(before, tests);
        const { faults } = checkCatalogue(after.catalogue);
        if (faults.length > 0) return outcomeOf(faults);
        replaceFile(target, `${JSON.stringify(after.catalogue, undefined, 2)}\n`);
        const { added, replaced } = after;
        return { lines: [`${added} tests were added, ${replaced} replaced`], result: { added, replaced } };
      },
    },
  },
};

/**
 * Returns the faults in the form of a catalogue. If the form is valid, returns the safety faults, the warnings
 * and the number of tests.
 */
function checkCatalogue(candidate: unknown) {
  try {
    const parsed = parseCatalogue(candidate);
    const [faults, warnings] = [safetyFaults(parsed), safetyWarnings(parsed)];
    return { faults, warnings, tests: parsed.orderables.size };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The first line of the error is the title of the list of faults.
    return { faults: linesOf(error).slice(1), warnings: [], tests: 0 };
  }
}

const linesOf = ({ message }: Error) => message.split('\n').map((line) => line.trim());

function outcomeOf(
  faults: readonly string[],
  good: Pick<Outcome, 'lines' | 'result'> = { lines: [], result: {} },
) {
  return faults.length === 0
    ? { ...good, result: { ...(good.result as object), faults } }
    : { lines: [], result: { faults }, problems: faults };
}

function parseJson(text: string): unknown {
  return readJsonText(text, () => JSON.parse(text));
}

function readSheet(text: string): ReturnType<typeof readCatalogueSheet> {
  try {
    return readCatalogueSheet(text);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { tests: [], faults: [error.message] };
  }
}

/**
 * Returns the catalogue with these tests. A test replaces the test with the same code, or is added at the
 * end.
 */
function withTests(before: unknown, tests: readonly SheetTest[]) {
  const { orderables = [], ...rest } = before as { orderables?: readonly SheetTest[] };
  const byCode = new Map(tests.map((test) => [test.code, test]));
  const known = new Set(orderables.map(({ code }) => code));
  const added = tests.filter(({ code }) => !known.has(code));
  const kept = orderables.map((test) => byCode.get(test.code) ?? test);
  return {
    catalogue: { ...rest, orderables: [...kept, ...added] },
    added: added.length,
    replaced: tests.length - added.length,
  };
}
