import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Command, type OptionValues, UsageError } from './command.ts';
import { commands } from './commands.ts';

const program = 'clinical-launch';

/**
 * Runs a command of the twin. The words before the first option name the command. Without a word, starts the
 * twin.
 * @returns the exit code: 2 if the command was called incorrectly, or undefined if the process keeps running
 */
export async function runTwin(args: readonly string[]): Promise<number | undefined> {
  const { stdout, stderr } = process;
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const begin = args.findIndex((word) => word.startsWith('-'));
  const words = begin < 0 ? args : args.slice(0, begin);
  const options = args.slice(words.length, end);
  const rest = args.slice(end + 1);
  const name = words.join(' ') || 'start';
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  try {
    if (options[0] === '--version') stdout.write(`${version()}\n`);
    else if (options.includes('--help'))
      stdout.write(words.length > 0 && command ? usage(name, command) : help());
    else if (command === undefined) throw new UsageError(`Unknown command "${name}"`);
    else if (rest.length > 0 && command.rest === undefined) throw new UsageError(`${name} takes no command`);
    else return await command.run(readOptions(command, options), rest);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`${error.message}. \`${program} --help\` lists the commands.\n`);
    return 2;
  }
}

function readOptions({ options }: Command, args: readonly string[]): OptionValues {
  const known = Object.keys(options).map((name) => [name, { type: 'string' }] as const);
  try {
    return parseArgs({ args: [...args], options: Object.fromEntries(known) }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function version(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}

const help = () =>
  `Usage: ${program} [<command>] [<option>...]\n\nCommands:\n${table(
    Object.entries(commands).map(([name, { summary }]) => [name, summary]),
  )}\n\`${program} <command> --help\` describes a command. The default is \`start\`.\n`;

const usage = (name: string, { summary, options, rest }: Command) =>
  `Usage: ${program} ${name} [<option>...]${rest === undefined ? '' : ' [-- <command>]'}\n\n${summary}.\n\nOptions:\n${table(
    [
      ...Object.entries(options).map(
        ([option, { value, summary }]) => [`--${option} <${value}>`, summary] as const,
      ),
      ...(rest === undefined ? [] : [['-- <command>', rest] as const]),
    ],
  )}`;

const table = (rows: readonly (readonly [string, string])[]) => {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, does]) => `  ${name.padEnd(width)}${does}\n`).join('');
};
