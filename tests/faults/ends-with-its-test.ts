// Preloaded into every process that a fault test starts. Its standard input is a pipe from the test, which
// the kernel closes when the test ends, for any reason. The files of the test are removed as well.
import { rmSync } from 'node:fs';

process.stdin
  .once('end', () => {
    const directory = process.env['TEST_DIRECTORY'];
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    process.kill(process.pid, 'SIGKILL');
  })
  .resume();
