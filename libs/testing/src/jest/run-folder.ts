import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const codeCache = new URL('../../../../.cache/compiled', import.meta.url);

const prefix = 'clinical-launch-run-';

/** The file system in memory, on Linux. */
const memory = '/dev/shm';
/** The required free memory in bytes, which is more than the data of all servers of a run needs. */
const enoughBytes = 2 ** 30;

/**
 * A shell script that ends the remaining processes of a run. When the main process of the run ends for any
 * reason, the kernel closes the pipe to the script's standard input. The remaining processes then have a
 * second to end by themselves. On Linux, every process with the folder in its environment belongs to the run.
 */
const sweep = `
trap '' HUP INT TERM
read -r _
for pass in 1 2; do
  sleep 1
  for file in $(grep -slazF "TMPDIR=$1" /proc/[0-9]*/environ); do
    process=\${file#/proc/}
    kill -KILL "\${process%/environ}" 2>/dev/null
  done
done
rm -rf "$1" "${memory}/\${1##*/}"
`;

/**
 * Makes the C library return memory to the system. The processes of a run, about twenty at a time, then need
 * a fifth less memory.
 */
export const frugalMalloc = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '65536',
};

let folder: string | undefined;

/**
 * Creates the folder of a test run, for the temporary files of all processes that this process starts from
 * now on. When this process ends, its remaining processes are ended and the folder is removed. Call it once
 * per run.
 */
export function openRunFolder(): void {
  if (folder !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), prefix));
  // If this user is root, PostgreSQL runs as another user, which must be able to enter the folder.
  chmodSync(folder, 0o711);
  const sweeper = spawn('sh', ['-c', sweep, 'sweeper', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  sweeper.unref();
  if ('unref' in sweeper.stdin && sweeper.stdin.unref instanceof Function) sweeper.stdin.unref();
  process.env['TMPDIR'] = folder;
  Object.assign(process.env, frugalMalloc);
  // Caches compiled sources, because a run starts about two hundred processes from the same sources.
  process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(codeCache);
}

/** Returns the folder of the run that this process belongs to; undefined if the run has no folder. */
export const runFolder = (): string | undefined =>
  basename(tmpdir()).startsWith(prefix) ? tmpdir() : undefined;

/**
 * Returns the folder for the data of a run's servers. It is in memory if enough memory is free. On disk, the
 * three hundred files of a database are created slowly after many other files were removed.
 */
export function serverFolder(): string {
  const run = runFolder();
  if (run === undefined || !hasRoomInMemory()) return tmpdir();
  const folder = join(memory, basename(run));
  mkdirSync(folder, { recursive: true });
  return folder;
}

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > enoughBytes;
  } catch {
    return false;
  }
}

/**
 * Returns the ids and command lines of the other processes of the run that have not ended.
 */
export function remainingProcesses(): string[] {
  return folder === undefined ? [] : processesWith(`TMPDIR=${folder}`);
}

/** Returns the processes that have this variable in their environment; none without `/proc`. */
function processesWith(setting: string): string[] {
  return readPaths('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((id) => read(`/proc/${id}/environ`).split('\0').includes(setting))
    .map((id) => `${id} ${read(`/proc/${id}/cmdline`).replaceAll('\0', ' ').trim()}`);
}

function readPaths(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns the content of a file; empty if the process has ended or belongs to another user. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
