import { UsageError } from './credentials.ts';
import { tools } from './tools.ts';

const usage = `Usage: npm run ops -- <tool> [<command>] [--json]

Tools: ${Object.keys(tools).join(', ')}. \`npm run ops -- <tool> --help\` describes one.

Ends with 0 when it worked, 1 when it did not, 2 when it was called wrongly.`;

/** Runs one tool and returns the exit code. */
async function run([name = '', ...rest]: readonly string[]): Promise<number> {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  const isHelp = name === '--help' || rest.includes('--help');
  if (isHelp) return print(tool?.usage ?? usage);
  if (tool === undefined) return fail(usage, 2);
  const isJson = rest.includes('--json');
  const args = rest.filter((argument) => argument !== '--json');
  try {
    const { text, result } = await tool.run(args, process.env);
    return print(isJson ? JSON.stringify(result) : text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return fail(message, error instanceof UsageError ? 2 : 1);
  }
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function fail(message: string, code: number): number {
  process.stderr.write(`${message}\n`);
  return code;
}

process.exitCode = await run(process.argv.slice(2));
