import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installDebianPackage } from './debian-package.ts';
import { makeServerDirectory, type PrivateServer, runPrivately } from './private-server.ts';
import { findProgram } from './server-kind.ts';

export type PrivateHaproxy = PrivateServer & {
  /** Returns everything that HAProxy has logged so far. */
  log(): string;
};

export type HaproxyPlan = {
  /** The text of the configuration file, which sends the log to standard output. */
  readonly configuration: string;
  readonly url: string;
  /** An address that answers 200 once the configuration is active. */
  readonly readyUrl: string;
  readonly environment?: NodeJS.ProcessEnv;
};

const findHaproxy = () => findProgram('haproxy');

/**
 * Returns the path of the HAProxy program, after installing Debian's package if that is possible.
 * @throws Error that explains what to do when HAProxy is not installed
 */
export async function provideHaproxy(): Promise<string> {
  const installed = findHaproxy();
  if (installed !== undefined) return installed;
  const program = (await installDebianPackage('haproxy')) ? findHaproxy() : undefined;
  if (program !== undefined) return program;
  throw new Error('The tests of the edge need HAProxy. Install haproxy.');
}

/** Starts an HAProxy for the test. @throws Error with the end of its log when it does not start */
export async function startHaproxy(plan: HaproxyPlan): Promise<PrivateHaproxy> {
  const directory = makeServerDirectory('haproxy');
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, plan.configuration);
  const server = await runPrivately({
    url: plan.url,
    directory,
    command: await provideHaproxy(),
    arguments: ['-db', '-f', file],
    environment: plan.environment ?? {},
    stopSignal: 'SIGTERM',
    isUp: async () => (await fetch(plan.readyUrl)).ok,
  });
  return { ...server, log: () => readFileSync(join(directory, 'server.log'), 'utf8') };
}
