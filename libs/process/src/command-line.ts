import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { CommanderError, Command as Parser } from 'commander';

type FaultOf = (value: string) => string | undefined;

/** A positional argument: `<event id>`. */
export type Argument = {
  readonly name: string;
  readonly summary: string;
  readonly isOptional?: true;
  /** Only the last argument can be repeated. */
  readonly isRepeatable?: true;
  /** Returns `must be …` for an invalid value, or else undefined. */
  readonly faultOf?: FaultOf;
};

/** An option, `--client-id <id>`, or a flag if it has no `value`. */
export type Option = {
  readonly name: string;
  /** The name of the value in the usage. Absent for a flag. */
  readonly value?: string;
  /** Explains the option. Also used as the question on a terminal. */
  readonly summary: string;
  readonly isOptional?: true;
  readonly isRepeatable?: true;
  /** Whether the command never asks for this option at a terminal. */
  readonly isUnasked?: true;
  /** Returns `must be …` for an invalid value, or else undefined. */
  readonly faultOf?: FaultOf;
};

export type Setting = { readonly name: string; readonly summary: string };

/** A command. Its usage, help and argument parsing follow from this description. */
export type Description = {
  /** A sentence that begins with a verb. */
  readonly summary: string;
  readonly details?: string;
  /** The words after the name of the command in an example of its use: `--realm demo`. */
  readonly example?: string;
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  readonly settings?: readonly Setting[];
  /** Whether the command asks for missing options at a terminal. */
  readonly isInteractive?: true;
};

/** The values of each option, by its name. An option that was not given is absent. Flags have no values. */
export type Answers = ReadonlyMap<string, readonly string[]>;

/** What a command line contains. */
export type Given = { readonly arguments: readonly string[]; readonly options: Answers };

/** The output of a command, and the input for its questions. */
export type Terminal = {
  /** Absent if the terminal is not interactive. */
  readonly input?: Readable;
  readonly output: Writable;
  readonly errors: Writable;
};

/** Thrown if arguments or settings are invalid. The command exits with 2 and changes nothing. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Reads a file that a command line names. @throws UsageError if it cannot be read */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UsageError(`${path} cannot be read`, { cause });
  }
}

/**
 * Creates a program without commands. Its `--version` prints `version`.
 * @param example the words after the name of the program in an example of its use
 */
export const createProgram = (
  name: string,
  { output, errors }: Terminal,
  { version, example }: { readonly version: string; readonly example: string },
): Parser =>
  withExample(new Parser(name), example)
    .version(version, '-V, --version', 'Prints the version')
    .helpOption('-h, --help', 'Prints this text')
    .helpCommand('help [command]', 'Prints the help of a command')
    .addHelpText(
      'afterAll',
      '\nExits with 0 on success, 1 if it failed or found a problem, 2 if it was called incorrectly.',
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.write(text),
      writeErr: (text) => errors.write(text),
      // A fault is one line, also with its suggestion.
      outputError: (text, write) => write(text.trim().replaceAll('\n', ' ').concat('\n')),
    });

/** Adds a group of commands to a program. Its example is that of its first command. */
export const addGroup = (
  program: Parser,
  name: string,
  { summary, example }: Pick<Description, 'summary' | 'example'>,
): Parser => withExample(program.command(name).summary(summary).description(summary), example);

/** Returns the name of a command with the names of its parents: `clinical-launch registry list`. */
const nameOf = (parser: Parser): string => (parser.parent ? `${nameOf(parser.parent)} ` : '') + parser.name();

const withExample = (parser: Parser, example = ''): Parser =>
  parser.addHelpText('after', () => `\nExample:\n  ${nameOf(parser)} ${example}`.trimEnd());

/** Returns a function that shows progress on a terminal, one line each, and nothing elsewhere. */
export const progressOn = ({ errors }: Pick<Terminal, 'errors'>): Progress =>
  'isTTY' in errors && errors.isTTY === true ? (line) => void errors.write(`${line}\n`) : () => undefined;

/** Shows a line about the progress of long work. */
export type Progress = (line: string) => void;

/**
 * Adds a command to a program, or to a group of its commands. `act` receives the valid arguments and options.
 * If the command is interactive, asks for missing options at the terminal.
 */
export function addCommand(
  parent: Parser,
  name: string,
  description: Description,
  { terminal, act }: { readonly terminal: Terminal; readonly act: (given: Given) => Promise<void> },
): Parser {
  const { summary, details, example, arguments: positionals = [], options = [], settings = [] } = description;
  const parser = withExample(parent.command(name), example)
    .summary(summary)
    .description([summary, details].filter(Boolean).join('\n\n'));
  for (const one of positionals) {
    const shape = one.isRepeatable ? `${one.name}...` : one.name;
    parser.argument(one.isOptional ? `[${shape}]` : `<${shape}>`, one.summary);
  }
  for (const one of options)
    parser.option(shapeOf(one), one.summary, (value, all: readonly string[] | undefined) => [
      ...(all ?? []),
      value,
    ]);
  if (settings.length > 0)
    parser.addHelpText(
      'after',
      ['\nSettings:', ...settings.map((one) => `  ${one.name}  ${one.summary}`)].join('\n'),
    );
  return parser.action(async () => {
    const values = parser.opts<Readonly<Record<string, readonly string[] | true>>>();
    const given = parser.options.flatMap((one): [string, readonly string[]][] => {
      const value = values[one.attributeName()];
      return value === undefined ? [] : [[one.name(), value === true ? [] : value]];
    });
    await act({
      arguments: parser.args,
      options: await completed(description, new Map(given), { parser, terminal }),
    });
  });
}

const shapeOf = ({ name, value }: Option) => `--${name}${value === undefined ? '' : ` <${value}>`}`;

/** Runs a program with these arguments. @returns the exit code: 2 if it was called incorrectly */
export async function runProgram(program: Parser, args: readonly string[]): Promise<number> {
  try {
    await program.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

/**
 * Returns the options, with the answers to the questions for missing ones.
 * @throws UsageError that lists every missing or invalid argument and option
 */
async function completed(
  { arguments: positionals = [], options = [], isInteractive }: Description,
  given: Answers,
  { parser, terminal: { input, errors } }: { readonly parser: Parser; readonly terminal: Terminal },
): Promise<Answers> {
  const isAsked = isInteractive === true && input !== undefined;
  const wrong = parser.args.flatMap((value, index) => {
    const argument = positionals[Math.min(index, positionals.length - 1)];
    const fault = argument?.faultOf?.(value);
    return fault === undefined ? [] : [`<${argument?.name}> ${fault}`];
  });
  const faults = [
    ...wrong,
    ...options.flatMap((option) => faultsOf(option, given.get(option.name), isAsked)),
  ];
  if (faults.length > 0) throw new UsageError(faults.join('\n'));
  if (!isAsked) return given;
  // Asks on `errors`, because an operator may redirect the output, which contains a secret, to a file.
  const lines = createInterface({ input, output: errors });
  const answers = new Map(given);
  try {
    for (const option of options) {
      if (answers.has(option.name) || option.isUnasked || option.value === undefined) continue;
      const answer = await askUntilUsable(option, (question) => lines.question(question));
      if (answer.length > 0) answers.set(option.name, answer);
    }
  } finally {
    lines.close();
  }
  return answers;
}

function faultsOf(option: Option, given: readonly string[] | undefined, isAsked: boolean): string[] {
  const { name, value, isOptional, isRepeatable } = option;
  if (value === undefined) return [];
  if (given === undefined) return isAsked || isOptional ? [] : [`--${name} is missing`];
  if (!isRepeatable && given.length > 1) return [`--${name} can be given once`];
  return faultsOfValues(option, given).map((fault) => `--${name} ${fault}`);
}

const faultsOfValues = ({ faultOf }: Option, values: readonly string[]): string[] =>
  values.flatMap((value) => (value === '' ? 'must not be empty' : faultOf?.(value)) ?? []);

async function askUntilUsable(
  option: Option,
  ask: (question: string) => Promise<string>,
): Promise<readonly string[]> {
  let hint = '';
  for (;;) {
    const said = (await ask(`${hint}${option.summary}: `)).trim();
    const answer = option.isRepeatable ? said.split(/\s+/).filter(Boolean) : said === '' ? [] : [said];
    if (answer.length === 0 && option.isOptional) return [];
    const faults = faultsOfValues(option, answer);
    if (answer.length > 0 && faults.length === 0) return answer;
    hint = `${faults[0] ?? 'An answer is required'}\n`;
  }
}
