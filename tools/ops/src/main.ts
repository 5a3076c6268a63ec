import { runOps } from './run.ts';

const { stdin, stdout, stderr } = process;
// The reader of a pipe, such as head, may close it early.
stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));
process.exitCode = await runOps({
  args: process.argv.slice(2),
  environment: process.env,
  terminal: { ...(stdin.isTTY ? { input: stdin } : {}), output: stdout, errors: stderr },
  now: Date.now(),
});
