// Imported into a measured process with `--import`: writes, when it is asked by SIGUSR2, how long its event
// loop was late and its garbage collector paused since it was asked before.
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** Milliseconds since the last question. */
export type Stalls = {
  readonly delayP99: number;
  readonly delayMax: number;
  readonly gcMax: number;
  readonly gcTotal: number;
};

const millisecond = 1e6;
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let pauses: number[] = [];
new PerformanceObserver((list) => {
  pauses.push(...list.getEntries().map(({ duration }) => duration));
}).observe({ entryTypes: ['gc'] });

process.on('SIGUSR2', () => {
  const stalls: Stalls = {
    delayP99: delay.percentile(99) / millisecond,
    delayMax: delay.max / millisecond,
    gcMax: Math.max(0, ...pauses),
    gcTotal: pauses.reduce((sum, pause) => sum + pause, 0),
  };
  delay.reset();
  pauses = [];
  process.stderr.write(`stalls ${JSON.stringify(stalls)}\n`);
});
