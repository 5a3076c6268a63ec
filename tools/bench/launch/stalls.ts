// Imported into a measured process with `--import`. Each SIGUSR2 starts or ends the measurement of event loop
// delays and garbage collection pauses, and prints the results.
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** The 99th percentile of event loop delays and the longest garbage collection between two signals, in ms. */
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

// Measuring costs CPU, so the measurement runs only between two signals.
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
