import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** Runs `npm run ops` with these arguments, and resolves with its exit code and output. */
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
