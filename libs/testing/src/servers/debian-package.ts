import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

let last: Promise<unknown> = Promise.resolve();

/**
 * Waits until the previous installation has ended, and installs a Debian package. Returns false unless this
 * process runs as root on Debian.
 */
export function installDebianPackage(name: string): Promise<boolean> {
  const installed = last.then(() => install(name));
  last = installed.catch(() => undefined);
  return installed;
}

async function install(name: string): Promise<boolean> {
  if (process.getuid?.() !== 0 || !(await hasApt())) return false;
  process.stderr.write(`As root: installing ${name} from Debian's packages, for the tests\n`);
  // In run level 1, Debian does not start a service after its installation. The tests start their own server.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  await run('apt-get', ['update', '-qq'], { env });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], {
    env,
    maxBuffer: 2 ** 26,
  });
  return true;
}

const hasApt = () =>
  run('apt-get', ['--version']).then(
    () => true,
    () => false,
  );
