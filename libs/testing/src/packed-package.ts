import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Returns the environment variables without those of the test runner. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, JEST_WORKER_ID: _worker, NODE_ENV: _mode, ...inherited } = process.env;
  return inherited;
}

type RunOptions = { readonly cwd: string; readonly environment?: NodeJS.ProcessEnv };

/** Runs a program, and returns its standard output. @throws Error with all output if the program fails */
export async function runProgram(
  command: string,
  args: readonly string[],
  { cwd, environment = {} }: RunOptions,
): Promise<string> {
  try {
    const { stdout } = await execute(command, [...args], {
      cwd,
      env: { ...plainEnvironment(), ...environment },
    });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Builds a package with its `build.ts`, and packs it into a file outside the repository. */
export async function packPackage(build: string) {
  const folder = await mkdtemp(join(tmpdir(), 'clinical-launch-package-'));
  const built = join(folder, 'built');
  await runProgram(process.execPath, [build, built], { cwd: folder });
  const name = (await runProgram('npm', ['pack', '--silent', built], { cwd: folder })).trim();
  return { folder, tarball: join(folder, name), remove: () => rm(folder, { recursive: true }) };
}
