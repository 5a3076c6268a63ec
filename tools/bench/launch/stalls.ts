// Imported into a measured process with `--import`: SIGUSR2 makes it watch how long its event loop is late
// and its garbage collector pauses, and the next SIGUSR2 makes it write that.
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** Milliseconds, of the time between a question and the one before. */
export type Stalls = {
  readonly delayP99: number;
  readonly gcMax: number;
};

const millisecond = 1e6;
const delay = monitorEventLoopDelay({ resolution: 1 });
let pauses: number[] = [];
const observer = new PerformanceObserver((list) => {
  pauses.push(...list.getEntries().map(({ duration }) => duration));
});
let isWatching = false;

// Watching costs CPU, so only between two questions.
process.on('SIGUSR2', () => {
  isWatching = !isWatching;
  if (isWatching) {
    pauses = [];
    delay.reset();
    delay.enable();
    observer.observe({ entryTypes: ['gc'] });
  } else {
    delay.disable();
    observer.disconnect();
  }
  const stalls: Stalls = {
    delayP99: delay.percentile(99) / millisecond,
    gcMax: Math.max(0, ...pauses),
  };
  process.stderr.write(`stalls ${JSON.stringify(stalls)}\n`);
});
