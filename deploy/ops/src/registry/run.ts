import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { isProduction } from '@clinical-launch/service';
import { openSealers, withSecretFiles } from '@clinical-launch/service/process';
import { commands } from './commands.ts';
import { type Answers, type Ask, findAnswers, UnansweredError } from './questions.ts';
import { readDocument, writeDocument } from './registry-document.ts';

export type Terminal = {
  /** Where a person answers; absent when nobody does. */
  readonly input?: Readable;
  readonly output: Writable;
  readonly errors: Writable;
};

type RunOptions = {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  readonly now: number;
};

/**
 * Runs one onboarding command on a registry file. What the new client needs is written to the output once, its secret
 * with it; only the secret's hash is kept.
 * @returns the exit code: 0, 1 when the command could not be done, 2 when it was not understood
 */
export async function runOnboarding({
  args,
  environment: given,
  terminal,
  now,
}: RunOptions): Promise<number> {
  const { output, errors } = terminal;
  const asking = openQuestions(terminal);
  try {
    const environment = withSecretFiles(given);
    const { command, answered, path } = readArguments(args, environment);
    const answers = await findAnswers(command.questions, answered, asking?.ask);
    const document = await readDocument(path);
    const { text, told } = command.run(document, answers, {
      now,
      isProduction: isProduction(environment),
      hasKeys: Boolean(environment.SEALING_KEYS_CALLBACK || environment.SEALING_KEYS),
      openSealer: () => openSealers(environment, ['callback'], { acceptsShared: true }).callback,
    });
    if (text !== undefined) await writeDocument(document, text);
    for (const [name, value] of told) output.write(`${name}: ${value}\n`);
    return 0;
  } catch (error) {
    errors.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UnansweredError ? 2 : 1;
  } finally {
    asking?.close();
  }
}

function openQuestions({ input, errors }: Terminal): { ask: Ask; close(): void } | undefined {
  if (input === undefined) return undefined;
  // Beside the output, which may be redirected to where the secret belongs.
  const lines = createInterface({ input, output: errors });
  return { ask: (question) => lines.question(question), close: () => lines.close() };
}

function readArguments(args: readonly string[], environment: RunOptions['environment']) {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new UnansweredError([usage()]);
  const names = ['file', ...command.questions.map(({ option }) => option)];
  const options = Object.fromEntries(
    names.map((option) => [option, { type: 'string', multiple: true } as const]),
  );
  const { values } = parse(rest, options);
  const { file, ...others } = values;
  const path = file?.at(-1) ?? environment.REGISTRY_FILE;
  if (path === undefined) throw new UnansweredError(['--file is missing, and REGISTRY_FILE is not set']);
  const answered: Answers = new Map(
    Object.entries(others).flatMap(([option, value]) =>
      value === undefined ? [] : [[option, value] as const],
    ),
  );
  return { command, answered, path };
}

function parse(args: readonly string[], options: Record<string, { type: 'string'; multiple: true }>) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false });
  } catch (error) {
    throw new UnansweredError([error instanceof Error ? error.message : String(error)]);
  }
}

function usage(): string {
  const lines = Object.entries(commands).map(([name, { does, questions }]) => {
    const options = questions.map(({ option, isOptional }) =>
      isOptional ? `[--${option} ...]` : `--${option} ...`,
    );
    return `  ${name}  ${does}\n      ${options.join(' ')}`;
  });
  return [
    'npm run registry -- <command> --file <registry.json> [options]; on a terminal, what is missing is asked for',
    ...lines,
  ].join('\n');
}
