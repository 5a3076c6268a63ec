import { escapeMarkup } from '@clinical-launch/contracts/formats';
import { compileSchema } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { type Result, type RunReport, results } from './run.ts';

const expectedReport = compileSchema(
  Type.Object({
    requirements: Type.Array(Type.Object({ id: Type.String(), result: Type.Enum([...results]) })),
  }),
);

const successful: ReadonlySet<Result> = new Set(['passed', 'attested']);

/** The expected result of each requirement, by requirement id. */
export type ExpectedResults = Readonly<Record<string, Result>>;

/**
 * Compares the results of a run with the expected results. Without expected results, every requirement must
 * be passed or attested.
 * @returns one sentence for each difference
 */
export function differencesOf({ requirements }: RunReport, expected?: ExpectedResults): readonly string[] {
  if (expected === undefined) {
    return requirements
      .filter(({ result }) => !successful.has(result))
      .map(({ id, title, result, finding }) => `${id} is ${result}: ${finding ?? title}`);
  }
  const ids = new Set(requirements.map(({ id }) => id));
  const unknown = Object.keys(expected).filter((id) => !ids.has(id));
  return [
    ...requirements
      .filter(({ id, result }) => result !== expected[id])
      .map(({ id, result, finding }) => {
        const found = finding === undefined ? result : `${result} (${finding})`;
        return `${id} is ${found}, but ${expected[id] ?? 'no result'} was expected`;
      }),
    ...unknown.map((id) => `${id} was expected, but it is not a requirement of this run`),
  ];
}

/**
 * Reads the expected results: the report of an earlier run, as JSON.
 * @throws TypeError if the value is no report
 */
export function readExpected(content: unknown): ExpectedResults {
  if (!expectedReport.is(content)) {
    const faults = expectedReport.faultsOf(content).map(({ path, message }) => `${path} ${message}`);
    throw new TypeError(`it is not the report of a run: ${faults.join('; ')}`);
  }
  return Object.fromEntries(content.requirements.map(({ id, result }) => [id, result]));
}

/**
 * Returns the report as JUnit XML, which CI systems show: one test case for each requirement. A requirement
 * that is neither passed nor attested is a failure, and an unattested requirement is skipped.
 */
export function junitOf({ client, protocol, startedAt, requirements }: RunReport): string {
  const isFailed = (result: Result) => !successful.has(result) && result !== 'unattested';
  const failures = requirements.filter(({ result }) => isFailed(result)).length;
  const skipped = requirements.filter(({ result }) => result === 'unattested').length;
  const cases = requirements.map(({ id, title, result, finding }) => {
    const about = `classname="${escapeMarkup(id)}" name="${escapeMarkup(title)}"`;
    if (successful.has(result)) return `    <testcase ${about}/>`;
    const element = isFailed(result) ? 'failure' : 'skipped';
    return `    <testcase ${about}><${element} message="${escapeMarkup(finding ?? result)}"/></testcase>`;
  });
  const counts = `tests="${requirements.length}" failures="${failures}" skipped="${skipped}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts}>
  <testsuite name="${escapeMarkup(`${protocol} ${client}`)}" timestamp="${startedAt}" ${counts}>
    <properties><property name="isSigned" value="false"/></properties>
${cases.join('\n')}
  </testsuite>
</testsuites>
`;
}
