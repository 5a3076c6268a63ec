// Preloaded into every process that a fault test starts. Standard input is a pipe from the test, which the
// kernel closes however the test ends. The process then removes the test's files and exits.
import { rmSync } from 'node:fs';

process.stdin
  .once('end', () => {
    const directory = process.env['TEST_DIRECTORY'];
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    process.kill(process.pid, 'SIGKILL');
  })
  .resume();
