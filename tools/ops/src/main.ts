import { runOps } from './run.ts';

const { stdin, stdout, stderr } = process;
process.exitCode = await runOps({
  args: process.argv.slice(2),
  environment: process.env,
  terminal: { ...(stdin.isTTY ? { input: stdin } : {}), output: stdout, errors: stderr },
  now: Date.now(),
});
