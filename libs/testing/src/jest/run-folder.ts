import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const codeCache = new URL('../../../../.cache/compiled', import.meta.url);

const prefix = 'clinical-launch-run-';

/** Linux keeps files there in memory. */
const memory = '/dev/shm';
/** More than all servers of a run need. */
const enoughBytes = 2 ** 30;

/**
 * Ends what is left of a run when its process is gone, however it went: standard input is a pipe that the
 * kernel closes then. For a second, what the run started may end by itself. On Linux, anyone who has the
 * folder in the environment belongs to the run.
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
 * Has the C library give memory back to the system. A run has some twenty processes at a time, which need a
 * fifth less.
 */
export const frugalMalloc = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '65536',
};

let folder: string | undefined;

/**
 * Makes the folder of a test run, for the temporary files of everything that this process starts from now on.
 * When this process ends, what still runs of it ends and the folder is removed. Once for a run.
 */
export function openRunFolder(): void {
  if (folder !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), prefix));
  // PostgreSQL runs as another user when this one is root.
  chmodSync(folder, 0o711);
  const sweeper = spawn('sh', ['-c', sweep, 'sweeper', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  sweeper.unref();
  if ('unref' in sweeper.stdin && sweeper.stdin.unref instanceof Function) sweeper.stdin.unref();
  process.env['TMPDIR'] = folder;
  Object.assign(process.env, frugalMalloc);
  // A test run starts some two hundred processes of the same sources.
  process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(codeCache);
}

/** Returns the folder of the run that this process belongs to; undefined if the run has none. */
export const runFolder = (): string | undefined =>
  basename(tmpdir()).startsWith(prefix) ? tmpdir() : undefined;

/**
 * Returns the folder for the data of the servers that a run starts: in memory where there is room, as a disk
 * takes long to find room for the three hundred files of a database after those of others were removed.
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
 * Returns the ids and command lines of the processes that belong to the run and still run, without this
 * process.
 */
export function leftovers(): string[] {
  return folder === undefined ? [] : processesWith(`TMPDIR=${folder}`);
}

/** Empty where there is no `/proc`. */
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

/** Empty for a process that has ended or belongs to somebody else. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
