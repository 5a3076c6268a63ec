import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installDebianPackage } from './debian-package.ts';
import type { ContainerPlan } from './private-container.ts';
import type { PrivateServer } from './private-server.ts';

/** A server that the platform needs, and the ways to start it. */
export type ServerKind = {
  readonly name: string;
  /** The variable that names an existing server. */
  readonly variable: 'REDIS_URL' | 'AMQP_URL' | 'DATABASE_URL';
  readonly debianPackage: string;
  findProgram(): string | undefined;
  runProgram(program: string): Promise<PrivateServer>;
  readonly container: ContainerPlan;
};

export type StartedServer = { readonly server: PrivateServer; readonly from: string };

/** Finds a program in `PATH`, or in Debian's directories for administrators. */
export function findProgram(name: string): string | undefined {
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts a server for the test: from the program on this machine, which is fastest, or else from its image or
 * its Debian package.
 */
export async function startPrivate(kind: ServerKind): Promise<PrivateServer> {
  const { server } = (await runInstalled(kind)) ?? (await runContainer(kind)) ?? (await runFromPackage(kind));
  return server;
}

/** Runs a server from its Debian package. @throws Error that explains in one sentence what to install */
export async function runFromPackage(kind: ServerKind): Promise<StartedServer> {
  if (await installDebianPackage(kind.debianPackage)) {
    const started = await runInstalled(kind);
    if (started !== undefined) return { ...started, from: `the Debian package ${kind.debianPackage}` };
  }
  throw new Error(
    `The tests need ${kind.name}. Set ${kind.variable}, start Docker, or install ${kind.debianPackage}.`,
  );
}

/** Runs the installed program of a server. Returns undefined if the program is not installed. */
export async function runInstalled(kind: ServerKind): Promise<StartedServer | undefined> {
  const program = kind.findProgram();
  if (program === undefined) return undefined;
  return { server: await kind.runProgram(program), from: program };
}

/**
 * Runs a server from its image. If that is impossible, prints the reason in one line and returns undefined.
 */
export async function runContainer(kind: ServerKind): Promise<StartedServer | undefined> {
  // Loads the module only here, because it is large, and most tests do not need it.
  const { runInContainer } = await import('./private-container.ts');
  try {
    const server = await runInContainer(kind.container);
    return server && { server, from: `Docker, ${kind.container.image}` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${kind.name}: not from Docker (${reason.split('\n')[0]})\n`);
    return undefined;
  }
}
