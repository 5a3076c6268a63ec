import { execFile } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runOps as runInProcess } from '../src/run.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** Runs a command in this process, which is faster than in a new process. */
export async function runOpsHere(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const terminal = { output: new PassThrough(), errors: new PassThrough() };
  const [output, errors] = [text(terminal.output), text(terminal.errors)];
  const code = await runInProcess({ args, environment, terminal, now: Date.now() });
  terminal.output.end();
  terminal.errors.end();
  return { code, output: await output, errors: await errors };
}

/** Runs `clinical-launch` with these arguments, and resolves with its exit code and output. */
export function runOps(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const { NODE_OPTIONS: _options, ...inherited } = process.env;
  return new Promise<{ code: number; output: string; errors: string }>((resolve) => {
    execFile(
      process.execPath,
      [main, ...args],
      { env: { ...inherited, ...environment } },
      (error, output, errors) => resolve({ code: error === null ? 0 : Number(error.code), output, errors }),
    );
  });
}
