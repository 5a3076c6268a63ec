import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Command, type OptionValues, UsageError } from './command.ts';

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

/** The commands of the twin by name. The code of a command is loaded when it runs. */
const commands: Readonly<Record<string, Command>> = {
  start: {
    summary: 'Starts the platform, and prints `ready` and its address',
    options: {
      port: { value: 'number', summary: 'The port, or 0 for any free port. Default: 8080' },
      host: { value: 'address', summary: 'The address to listen on. Default: 127.0.0.1' },
      'https-port': { value: 'number', summary: 'The port of HTTPS, for clients that require it' },
      'public-url': {
        value: 'origin',
        summary: 'The origin that others use. Default: localhost and the port',
      },
      client: { value: 'id', summary: 'The client id of your practice management system' },
      callback: { value: 'url', summary: 'The address of your system for callbacks' },
      registry: { value: 'file', summary: 'The registry of clients. Default: the registry of the demo' },
      'log-level': { value: 'level', summary: 'The least severe log lines. Default: warn' },
    },
    run: async (given) => (await import('./start.ts')).start(given),
  },
  'conformance run': {
    summary: 'Judges a client against the requirements of its guide, and exits with 0 or 1',
    options: {
      client: { value: 'id', summary: 'The client id of your product' },
      protocol: { value: 'name', summary: '`pms` or `partner`. Default: pms' },
      callback: { value: 'url', summary: 'Your address for callbacks, or for logout tokens' },
      'redirect-uri': { value: 'url', summary: 'The redirect URI of a partner' },
      'launch-url': { value: 'url', summary: 'The launch URL of a partner' },
      expect: { value: 'file', summary: 'The expected results: the --json file of an earlier run' },
      attest: { value: 'file', summary: 'JSON with the name of the person who attests a requirement, by id' },
      json: { value: 'file', summary: 'Writes the report as JSON' },
      junit: { value: 'file', summary: 'Writes the report as JUnit XML' },
      port: { value: 'number', summary: 'The port of the platform, or 0 for any free port. Default: 8080' },
      host: { value: 'address', summary: 'The address to listen on. Default: 127.0.0.1' },
    },
    rest: 'A command that makes your product launch. It runs for each step',
    run: async (given, words) => (await import('./conformance.ts')).conformanceRun(given, words),
  },
  listen: {
    summary: 'Passes the callbacks of a sandbox client to this machine, until you stop it',
    options: {
      client: {
        value: 'id',
        summary: 'The client id. Its secret is in the environment variable CLIENT_SECRET',
      },
      url: { value: 'origin', summary: 'The address of the platform' },
      'forward-to': {
        value: 'url',
        summary: 'Your address for callbacks, such as http://localhost:9000/callbacks',
      },
      realm: { value: 'name', summary: 'The realm of the client. Default: demo' },
      audience: { value: 'uri', summary: 'The audience of access tokens. Default: api://clinical-launch' },
    },
    run: async (given) => (await import('./listen.ts')).listen(given),
  },
};
