import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { differencesOf, junitOf, readExpected } from '@clinical-launch/conformance/results';
import type { Attestations, Run, RunReport } from '@clinical-launch/conformance/run';
import { createParser } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { readText, UsageError } from '@clinical-launch/process/command-line';
import { readJsonText, replaceFile } from '@clinical-launch/process/operator-files';
import { createServiceLogger } from '@clinical-launch/runtime/logger';
import { startAt } from './start.ts';
import type { OptionValues } from './vendor-client.ts';
import { clientIn, secretsOf } from './vendor-client.ts';

/** The number of times that a command may run in one step, for example again after a refusal. */
const maxAttempts = 3;
const pollMs = 500;
const commandTimeoutMs = 300_000;

/**
 * Starts a twin, runs the conformance steps for one client, and writes the results. With a command, runs it
 * for each step. Without a command, prints each instruction and waits for the developer.
 * @returns the exit code: 0 if the results are as expected, otherwise 1
 * @throws UsageError if an option or a file is invalid
 */
export async function conformanceRun(given: OptionValues, command: readonly string[]): Promise<number> {
  const client = clientIn(given);
  const expected = given['expect'] === undefined ? undefined : readJsonFile(given['expect'], readExpected);
  const attestations = given['attest'] === undefined ? {} : readJsonFile(given['attest'], readAttestations);
  const twin = await startAt(given, {
    logger: createServiceLogger('twin', { level: 'error' }),
    environment: process.env,
    client,
  });
  try {
    print(`ready ${twin.url}`);
    for (const secret of secretsOf(client)) print(secret);
    const run = twin.runs.start({ clientId: client.clientId, protocol: client.protocol, attestations });
    const unknown = unknownIds(run, attestations);
    if (unknown.length > 0)
      throw new UsageError(`--attest names no requirement of this run: ${unknown.join(', ')}`);
    print(`run ${twin.url}/developers/runs/${run.id}`);
    await (command.length > 0 ? drive(run, command, twin.url) : follow(run));
    run.finish();
    const report = run.report();
    const exitCode = printResults(report, [...differencesOf(report, expected).values()]);
    if (given['json'] !== undefined) replaceFile(given['json'], `${JSON.stringify(report, undefined, 2)}\n`);
    if (given['junit'] !== undefined) replaceFile(given['junit'], junitOf(report, expected));
    return exitCode;
  } finally {
    await twin.stop();
  }
}

const unknownIds = (run: Run, attestations: Attestations) => {
  const known = new Set(run.report().requirements.map(({ id }) => id));
  return Object.keys(attestations).filter((id) => !known.has(id));
};

const print = (line: string) => void process.stdout.write(`${line}\n`);

function readJsonFile<Content>(path: string, read: (content: unknown) => Content): Content {
  const text = readText(path);
  try {
    return readJsonText(text, () => read(JSON.parse(text)));
  } catch (cause) {
    throw new UsageError(`${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/** The names of the people who attest requirements, by requirement id. */
const readAttestations = createParser(
  Type.Record(Type.String(), Type.String({ pattern: '\\S', description: 'must be the name of a person' })),
  'list of people',
);

async function drive(run: Run, command: readonly string[], baseUrl: string): Promise<void> {
  for (;;) {
    const step = run.step();
    if (step === undefined) return;
    print(`step ${step.number} of ${step.of}: ${step.instruction}`);
    await run.begun();
    const isCurrent = () => run.step()?.id === step.id;
    for (let attempt = 0; attempt < maxAttempts && step.action !== 'wait' && isCurrent(); attempt += 1) {
      if (attempt > 0 && step.pauseSeconds !== undefined) await pause(step.pauseSeconds * 1000);
      // A launch URL works once.
      if (attempt > 0) run.repeat();
      await run.begun();
      // The product may have completed the step since the last attempt. The launch URL then belongs to the
      // next step.
      if (!isCurrent()) break;
      const launchUrl = run.step()?.launchUrl;
      await execute(command, {
        BASE_URL: baseUrl,
        CONFORMANCE_STEP: step.id,
        CONFORMANCE_ACTION: step.action,
        ...(launchUrl === undefined ? {} : { LAUNCH_URL: launchUrl }),
      });
    }
    if (isCurrent()) run.skip();
  }
}

/**
 * Runs the command, and prints its exit code if it failed. The result does not depend on it, because a run judges
 * only requests. The output of the command goes to stderr, so that stdout contains only the results.
 */
function execute([file = '', ...args]: readonly string[], environment: Readonly<Record<string, string>>) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  spawn(file, args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', process.stderr, 'inherit'],
    timeout: commandTimeoutMs,
  })
    .once('error', (cause) => reject(new UsageError(`${file} cannot be run: ${cause.message}`)))
    .once('exit', (code, signal) => {
      if (code !== 0) print(`the command exited with ${code ?? signal}`);
      resolve();
    });
  return promise;
}

/** Prints each instruction until the run is finished, or until the developer interrupts it. */
async function follow(run: Run): Promise<void> {
  process.once('SIGINT', () => run.finish());
  let shown = '';
  for (;;) {
    await run.begun();
    const step = run.step();
    if (step === undefined) return;
    const line = `step ${step.number} of ${step.of}: ${step.instruction} ${step.launchUrl ?? ''}`;
    if (line !== shown) print(line);
    shown = line;
    await pause(pollMs);
  }
}

function printResults({ requirements, notJudged }: RunReport, differences: readonly string[]): number {
  for (const { id, result, title, finding } of requirements)
    print(`${result.padEnd(11)}${id}: ${finding ?? title}`);
  for (const difference of differences) print(difference);
  if (notJudged.length > 0) print(`Not judged without --callback: ${notJudged.join(', ')}`);
  const count = differences.length;
  print(count === 0 ? 'The results are as expected' : `Results that are not as expected: ${count}`);
  print('A twin can be changed by its user, so this result is not signed');
  return count === 0 ? 0 : 1;
}
