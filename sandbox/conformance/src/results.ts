import { escapeMarkup } from '@clinical-launch/contracts/formats';
import { createParser } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { type Result, type RunReport, results } from './run.ts';

const parseReport = createParser(
  Type.Object({
    requirements: Type.Array(Type.Object({ id: Type.String(), result: Type.Enum([...results]) })),
  }),
  'report of a run',
);

const successful: ReadonlySet<Result> = new Set(['passed', 'attested']);

export type ExpectedResults = Readonly<Record<string, Result>>;

/**
 * Compares the results of a run with the expected results. Without expected results, every requirement must
 * be passed or attested.
 * @returns one sentence for each difference, by requirement id
 */
export function differencesOf(
  { requirements }: RunReport,
  expected?: ExpectedResults,
): ReadonlyMap<string, string> {
  if (expected === undefined) {
    return new Map(
      requirements
        .filter(({ result }) => !successful.has(result))
        .map(({ id, title, result, finding }) => [id, `${id} is ${result}: ${finding ?? title}`]),
    );
  }
  const ids = new Set(requirements.map(({ id }) => id));
  const unknown = Object.keys(expected).filter((id) => !ids.has(id));
  return new Map([
    ...requirements
      .filter(({ id, result }) => result !== expected[id])
      .map(({ id, result, finding }) => {
        const found = finding === undefined ? result : `${result} (${finding})`;
        return [id, `${id} is ${found}, but ${expected[id] ?? 'no result'} was expected`] as const;
      }),
    ...unknown.map((id) => [id, `${id} was expected, but it is not a requirement of this run`] as const),
  ]);
}

/**
 * Reads the expected results: the report of an earlier run, as JSON.
 * @throws TypeError if the value is no report
 */
export const readExpected = (content: unknown): ExpectedResults =>
  Object.fromEntries(parseReport(content).requirements.map(({ id, result }) => [id, result]));

/**
 * Returns the report as JUnit XML, which CI systems show: one test case for each requirement. Each difference
 * of `differencesOf` is a failure. Any other requirement that is neither passed nor attested is skipped.
 */
export function junitOf(report: RunReport, expected?: ExpectedResults): string {
  const { client, protocol, startedAt, requirements } = report;
  const differences = differencesOf(report, expected);
  const skipped = new Map(
    requirements
      .filter(({ id, result }) => !differences.has(id) && !successful.has(result))
      .map(({ id, result, finding }) => [id, finding ?? result]),
  );
  const titles = new Map(requirements.map(({ id, title }) => [id, title]));
  const ids = new Set([...titles.keys(), ...differences.keys()]);
  const cases = [...ids].map((id) => {
    const about = `classname="${escapeMarkup(id)}" name="${escapeMarkup(titles.get(id) ?? id)}"`;
    const outcome = element('failure', differences.get(id)) + element('skipped', skipped.get(id));
    return `    <testcase ${about}>${outcome}</testcase>`;
  });
  const counts = `tests="${ids.size}" failures="${differences.size}" skipped="${skipped.size}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts}>
  <testsuite name="${escapeMarkup(`${protocol} ${client}`)}" timestamp="${startedAt}" ${counts}>
    <properties><property name="isSigned" value="false"/></properties>
${cases.join('\n')}
  </testsuite>
</testsuites>
`;
}

const element = (name: 'failure' | 'skipped', message: string | undefined) =>
  message === undefined ? '' : `<${name} message="${escapeMarkup(message)}"/>`;
