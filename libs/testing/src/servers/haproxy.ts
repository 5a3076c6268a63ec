import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
 * Returns the image in `EDGE_IMAGE`, or else the path of the HAProxy program, after installing Debian's
 * package if that is possible.
 * @throws Error that explains what to do when HAProxy is not installed
 */
export async function provideHaproxy(): Promise<string> {
  const image = process.env['EDGE_IMAGE'];
  if (image) return image;
  const installed = findHaproxy();
  if (installed !== undefined) return installed;
  const program = (await installDebianPackage('haproxy')) ? findHaproxy() : undefined;
  if (program !== undefined) return program;
  throw new Error(
    'The tests of the edge need HAProxy. Install haproxy, or set EDGE_IMAGE to an image with it.',
  );
}

/**
 * Returns the command that runs HAProxy with a configuration file: the program on this machine, or the image
 * in `EDGE_IMAGE` on the network of this machine. The container can read the folder of the file and temporary
 * files.
 */
export async function haproxyCommand(
  file: string,
  { options, environment }: { options: readonly string[]; environment: NodeJS.ProcessEnv },
): Promise<{ command: string; arguments: readonly string[] }> {
  const haproxy = await provideHaproxy();
  const all = [...options, '-f', file];
  if (haproxy !== process.env['EDGE_IMAGE']) return { command: haproxy, arguments: all };
  // Uses --init, because HAProxy ignores SIGTERM as process 1 of a container. Passes NODE_ENV, because the
  // image sets it to `production`, and GUARD_DIRECTORY, by which runPrivately finds the processes to end.
  const passed = ['NODE_ENV', 'GUARD_DIRECTORY', ...Object.keys(environment)];
  const container = [
    '--rm',
    '--init',
    '--network=host',
    `--user=${process.getuid?.()}:${process.getgid?.()}`,
    ...[dirname(file), tmpdir()].map((folder) => `--volume=${folder}:${folder}:ro`),
    ...passed.map((name) => `--env=${name}`),
  ];
  return { command: 'docker', arguments: ['run', ...container, '--entrypoint=haproxy', haproxy, ...all] };
}

/** Starts an HAProxy for the test. @throws Error with the end of its log when it does not start */
export async function startHaproxy(plan: HaproxyPlan): Promise<PrivateHaproxy> {
  const directory = makeServerDirectory('haproxy');
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, plan.configuration);
  const environment = plan.environment ?? {};
  const server = await runPrivately({
    url: plan.url,
    directory,
    ...(await haproxyCommand(file, { options: ['-db'], environment })),
    environment,
    stopSignal: 'SIGTERM',
    isUp: async () => (await fetch(plan.readyUrl)).ok,
  });
  return { ...server, log: () => readFileSync(join(directory, 'server.log'), 'utf8') };
}
