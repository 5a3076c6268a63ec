import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { withSecretFiles } from '@clinical-launch/process/secret-files';
import { ConfigurationError, type Environment } from '@clinical-launch/runtime/environment';
import { ArgumentsError, type Command, type Outcome, type Tool, UsageError } from './command.ts';
import { type Ask, readArguments } from './read-arguments.ts';
import { toolLoaders } from './tool-loaders.ts';
import { unknownWord, usageLine, usageOfAll, usageOfCommand, usageOfGroup } from './usage.ts';

/** The output of a command, and the input for its questions. */
export type Terminal = {
  /** Absent if the terminal is not interactive. */
  readonly input?: Readable;
  readonly output: Writable;
  readonly errors: Writable;
};

type RunOptions = {
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly terminal: Terminal;
  /** Milliseconds since 1970. */
  readonly now: number;
};

/**
 * The result of reading the first words of a command line: a command, or a usage text. The text is an error
 * unless the operator requested it with `--help`.
 */
type Found =
  | { readonly path: string; readonly command: Command; readonly args: readonly string[] }
  | { readonly usage: string; readonly isHelp: boolean };

/**
 * Runs a command of the operator, such as `registry add-pms …`. Writes the result to `output`, and problems
 * to `errors`.
 * @returns the exit code: 0, 1 if the command failed or found a problem, 2 if arguments or settings are
 *   invalid
 */
export async function runOps({ args, environment, terminal, now }: RunOptions): Promise<number> {
  const found = await find(args);
  if ('usage' in found) {
    (found.isHelp ? terminal.output : terminal.errors).write(`${found.usage}\n`);
    return found.isHelp ? 0 : 2;
  }
  const { path, command } = found;
  const asking = openQuestions(terminal);
  try {
    const given = await readArguments(command, found.args, asking?.ask);
    const print = (line: string) => printLine(terminal.output, line);
    const outcome = await command.run({ ...given, environment: withSecretFiles(environment), now, print });
    return printOutcome(outcome, given.isJson, terminal);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const usage = error instanceof ArgumentsError ? `${usageLine(path, command)}\n` : '';
    terminal.errors.write(`${message}\n${usage}`);
    return error instanceof UsageError || error instanceof ConfigurationError ? 2 : 1;
  } finally {
    asking?.close();
  }
}

async function find([name = '', ...rest]: readonly string[]): Promise<Found> {
  const load = ownMember(toolLoaders, name);
  if (load === undefined) {
    if (!isUsageWanted(name)) return { usage: unknownWord(name, Object.keys(toolLoaders)), isHelp: false };
    const { tools } = await import('./tools.ts');
    return { usage: usageOfAll(tools), isHelp: name === '--help' };
  }
  const tool = await load();
  if (isCommand(tool)) return foundCommand(name, tool, rest);
  const [commandName = '', ...args] = rest;
  const command = ownMember(tool.commands, commandName);
  if (command !== undefined) return foundCommand(`${name} ${commandName}`, command, args);
  if (isUsageWanted(commandName))
    return { usage: usageOfGroup(name, tool), isHelp: commandName === '--help' };
  return { usage: unknownWord(commandName, Object.keys(tool.commands), name), isHelp: false };
}

/** Returns true if the word is missing or an option, so that the usage is printed. */
const isUsageWanted = (word: string) => word === '' || word.startsWith('-');

const foundCommand = (path: string, command: Command, args: readonly string[]): Found =>
  args.includes('--help') ? { usage: usageOfCommand(path, command), isHelp: true } : { path, command, args };

const isCommand = (tool: Tool): tool is Command => 'run' in tool;

const ownMember = <Member>(members: Readonly<Record<string, Member>>, name: string): Member | undefined =>
  Object.hasOwn(members, name) ? members[name] : undefined;

function printOutcome(
  { lines, result, problems = [] }: Outcome,
  isJson: boolean,
  terminal: Terminal,
): number {
  const text = isJson ? [JSON.stringify(result)] : lines;
  terminal.output.write(text.map((line) => `${line}\n`).join(''));
  terminal.errors.write(problems.map((problem) => `${problem}\n`).join(''));
  return problems.length > 0 ? 1 : 0;
}

/** Writes a line, and waits for a slow reader. */
async function printLine(output: Writable, line: string): Promise<void> {
  if (!output.write(`${line}\n`)) await once(output, 'drain');
}

function openQuestions({ input, errors }: Terminal): { ask: Ask; close(): void } | undefined {
  if (input === undefined) return undefined;
  // Asks on `errors`, because an operator may redirect the output, which contains a secret, to a file.
  const lines = createInterface({ input, output: errors });
  return { ask: (question) => lines.question(question), close: () => lines.close() };
}
