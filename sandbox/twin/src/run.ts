import { readFileSync } from 'node:fs';
import {
  addCommand,
  addGroup,
  createProgram,
  type Description,
  type Option,
  runProgram,
  UsageError,
} from '@clinical-launch/process/command-line';
import type { OptionValues } from './vendor-client.ts';

type Command = Description & {
  /** Resolves when the command is done. @returns the exit code, or undefined if the process keeps running */
  readonly run: (given: OptionValues, words: readonly string[]) => Promise<number | undefined>;
};

/**
 * Runs a command of the twin. Without a command, starts the twin.
 * @returns the exit code: 2 if the command was called incorrectly, or undefined if the process keeps running
 */
export async function runTwin(args: readonly string[]): Promise<number | undefined> {
  const terminal = { output: process.stdout, errors: process.stderr };
  const program = createProgram('clinical-launch-twin', terminal, {
    version: version(),
    example: '--port 9000',
  });
  let code: number | undefined = 0;
  const add = (parent: typeof program, name: string, { run, ...description }: Command) =>
    addCommand(parent, name, description, {
      terminal,
      async act({ options, arguments: words }) {
        code = await run(Object.fromEntries([...options].map(([key, [value]]) => [key, value])), words);
      },
    });
  add(program, 'start', start);
  const { example } = conformanceRun;
  const group = { summary: 'Judges a client', example: `run ${example}` };
  add(addGroup(program, 'conformance', group), 'run', conformanceRun);
  try {
    // Without a command, starts the twin.
    const isStart = /^(?!-h$|--help$|-V$|--version$)(?:-|$)/.test(args[0] ?? '');
    return (await runProgram(program, isStart ? ['start', ...args] : args)) || code;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}

function version(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}

const option = (name: string, value: string, summary: string): Option => ({
  name,
  value,
  summary,
  isOptional: true,
});

const start: Command = {
  summary: 'Starts the platform, and prints `ready` and its address.',
  example: '--port 9000 --client my-pms',
  options: [
    option('port', 'number', 'The port, or 0 for any free port. Default: 8080'),
    option('host', 'address', 'The address to listen on. Default: 127.0.0.1'),
    option('https-port', 'number', 'The port of HTTPS, for clients that require it'),
    option('public-url', 'origin', 'The origin that others use. Default: localhost and the port'),
    option('client', 'id', 'The client id of your practice management system'),
    option('callback', 'url', 'The address of your system for callbacks'),
    option('registry', 'file', 'The registry of clients. Default: the registry of the demo'),
    option('log-level', 'level', 'The least severe log lines. Default: warn'),
  ],
  run: async (given) => (await import('./start.ts')).start(given),
};

const conformanceRun: Command = {
  summary: 'Judges a client against the requirements of its guide, and exits with 0 or 1.',
  example: '--client my-pms -- ./launch.sh',
  arguments: [
    {
      name: 'command',
      summary: 'After --: a command that makes your product launch. It runs for each step',
      isOptional: true,
      isRepeatable: true,
    },
  ],
  options: [
    option('client', 'id', 'The client id of your product'),
    option('protocol', 'name', '`pms` or `partner`. Default: pms'),
    option('callback', 'url', 'Your address for callbacks, or for logout tokens'),
    option('redirect-uri', 'url', 'The redirect URI of a partner'),
    option('launch-url', 'url', 'The launch URL of a partner'),
    option('expect', 'file', 'The expected results: the --json file of an earlier run'),
    option('attest', 'file', 'JSON with the name of the person who attests a requirement, by id'),
    option('json', 'file', 'Writes the report as JSON'),
    option('junit', 'file', 'Writes the report as JUnit XML'),
    option('port', 'number', 'The port of the platform, or 0 for any free port. Default: 8080'),
    option('host', 'address', 'The address to listen on. Default: 127.0.0.1'),
  ],
  run: async (given, words) => (await import('./conformance.ts')).conformanceRun(given, words),
};
