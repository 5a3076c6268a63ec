import { once } from 'node:events';
import type { Writable } from 'node:stream';
import {
  addCommand,
  addGroup,
  createProgram,
  type Option,
  progressOn,
  runProgram,
  type Terminal,
  UsageError,
} from '@clinical-launch/process/command-line';
import { withSecretFiles } from '@clinical-launch/process/secret-files';
import { ConfigurationError, type Environment } from '@clinical-launch/runtime/environment';
import { version } from '@clinical-launch/runtime/logger';
import type { Command, Outcome } from './command.ts';
import { tools } from './tools.ts';

type RunOptions = {
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly terminal: Terminal;
  /** Milliseconds since 1970. */
  readonly now: number;
};

const json: Option = { name: 'json', summary: 'Prints the result as one JSON value' };

/**
 * Runs a command of the operator, such as `registry add-pms …`. Writes the result to `output`, and problems
 * to `errors`. Loads only the tool of the command.
 * @returns the exit code: 0, 1 if the command failed or found a problem, 2 if arguments or settings are
 *   invalid
 */
export async function runOps({ args, environment, terminal, now }: RunOptions): Promise<number> {
  let code = 0;
  const program = createProgram('clinical-launch', terminal, { version, example: 'registry list --json' });
  const add = (parent: typeof program, name: string, command: Command) =>
    addCommand(
      parent,
      name,
      { ...command, options: [...(command.options ?? []), json] },
      {
        terminal,
        async act(given) {
          const isJson = given.options.has(json.name);
          const print = (line: string) => printLine(terminal.output, line);
          const progress = progressOn(terminal);
          const known = { ...given, isJson, environment: withSecretFiles(environment), now, print, progress };
          code = printOutcome(await command.run(known), isJson, terminal);
        },
      },
    );
  const wanted = args.find((word) => !word.startsWith('-') && word !== 'help');
  try {
    for (const [name, { summary, load }] of Object.entries(tools)) {
      const tool = name === wanted ? await load() : { commands: {} };
      if ('run' in tool) {
        add(program, name, { summary, ...tool });
        continue;
      }
      const [first] = Object.entries(tool.commands);
      const example = [first?.[0], first?.[1].example].join(' ').trim();
      const group = addGroup(program, name, { summary, example });
      for (const [each, one] of Object.entries(tool.commands)) add(group, each, one);
    }
    return (await runProgram(program, args)) || code;
  } catch (error) {
    terminal.errors.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError || error instanceof ConfigurationError ? 2 : 1;
  }
}

function printOutcome(
  { lines, result, notes = [], problems = [] }: Outcome,
  isJson: boolean,
  terminal: Terminal,
): number {
  const text = isJson ? [JSON.stringify(result)] : lines;
  terminal.output.write(text.map((line) => `${line}\n`).join(''));
  terminal.errors.write([...notes, ...problems].map((problem) => `${problem}\n`).join(''));
  return problems.length > 0 ? 1 : 0;
}

/** Writes a line, and waits for a slow reader. */
async function printLine(output: Writable, line: string): Promise<void> {
  if (!output.write(`${line}\n`)) await once(output, 'drain');
}
