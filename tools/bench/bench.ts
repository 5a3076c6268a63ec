import { readdirSync, readFileSync } from 'node:fs';

export type Goal = { readonly atMost: number } | { readonly atLeast: number };

export type Figure = {
  /** What was measured, and for which program: `RequestLaunchUrl, launch-api`. */
  readonly name: string;
  readonly unit: 'µs' | 'ms' | 's' | '/s' | 'MiB' | 'B' | '×';
  readonly values: readonly number[];
  /** The number of rounds in which other processes used more than a tenth of a core. */
  readonly disturbed?: number;
  readonly goal?: Goal;
};

export type BenchOptions = {
  /** A short run for CI with few rounds and small amounts. Its figures are not reliable. */
  readonly short: boolean;
  readonly progress: (text: string) => void;
};

/**
 * A benchmark. Each of its figures is a row of the printed table. The measured programs take turns, so that
 * all run under the same conditions.
 */
export type Bench = {
  readonly name: string;
  run(options: BenchOptions): Promise<readonly Figure[]>;
};

/** Returns the median. For an even number of values, returns the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Returns a quantile: the smallest value that is greater than or equal to at least `share` of the values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/**
 * Returns the ratio of two measured programs in each round. On a noisy machine, the ratio varies less than
 * the values.
 */
export function ratios(dividends: readonly number[], divisors: readonly number[]): number[] {
  return dividends.map((dividend, round) => dividend / (divisors[round] ?? Number.NaN));
}

/** Returns true if a figure misses its goal. */
export function misses({ goal, values }: Figure): boolean {
  if (goal === undefined) return false;
  const value = median(values);
  return 'atMost' in goal ? !(value <= goal.atMost) : !(value >= goal.atLeast);
}

const ticksPerSecond = 100;

/**
 * Returns the microseconds of CPU that the threads of a process have used so far. Reads the scheduler's
 * clock, because `/proc/PID/stat` counts in hundredths of a second.
 */
export function cpuOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
    .reduce((sum, nanoseconds) => sum + nanoseconds / 1000, 0);
}

/** Returns the microseconds of CPU that the whole machine has used so far. */
export function cpuOfMachine(): number {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (
    readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
  )
    .split(/ +/)
    .map(Number);
  return ((user + nice + system + irq + softirq + steal) * 1e6) / ticksPerSecond;
}

/**
 * Measures the CPU that processes use during some work.
 * @param pids the processes that do the work; the first process is measured
 * @returns the microseconds of the first process, and whether other processes disturbed the measurement
 */
export async function measureCpu(
  pids: readonly number[],
  work: () => Promise<void>,
): Promise<{ cpuUs: number; isDisturbed: boolean }> {
  const all = () => pids.map(cpuOf);
  const [before, machineBefore, startedAt] = [all(), cpuOfMachine(), performance.now()];
  await work();
  const [after, machineAfter, endedAt] = [all(), cpuOfMachine(), performance.now()];
  const used = after.map((value, index) => value - (before[index] ?? 0));
  const foreignUs = machineAfter - machineBefore - used.reduce((sum, value) => sum + value, 0);
  return { cpuUs: used[0] ?? Number.NaN, isDisturbed: foreignUs > (endedAt - startedAt) * 1000 * 0.1 };
}
