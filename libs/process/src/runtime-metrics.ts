import { constants, monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { meter } from '@clinical-launch/runtime/metrics';

const nano = 1e9;

/**
 * Observes the process: event loop, garbage collection, processor and memory, by OpenTelemetry's semantic
 * conventions for Node.js, V8 and processes.
 */
export function observeRuntime(): void {
  observeEventLoop();
  observeGarbageCollection();
  observeProcess();
  observeHeap();
}

function observeEventLoop(): void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const measures = {
    mean: () => delay.mean,
    max: () => delay.max,
    p50: () => delay.percentile(50),
    p90: () => delay.percentile(90),
    p99: () => delay.percentile(99),
  };
  const gauges = Object.entries(measures).map(([name, read]) => ({
    read,
    gauge: meter().createObservableGauge(`nodejs.eventloop.delay.${name}`, {
      description: `Delay of the event loop since the last collection: ${name}`,
      unit: 's',
    }),
  }));
  const busy = meter().createObservableGauge('nodejs.eventloop.utilization', {
    description: 'Share of time in which the event loop was not idle, since the last collection',
    unit: '1',
  });
  // Node measures idle time only after the first call. Without it, the first collection would always be 1.
  let last = performance.eventLoopUtilization();
  meter().addBatchObservableCallback(
    (result) => {
      for (const { gauge, read } of gauges) {
        const measured = read() / nano;
        // The value is NaN before the first sample.
        if (Number.isFinite(measured)) result.observe(gauge, measured);
      }
      delay.reset();
      const current = performance.eventLoopUtilization();
      result.observe(busy, performance.eventLoopUtilization(current, last).utilization);
      last = current;
    },
    [...gauges.map(({ gauge }) => gauge), busy],
  );
}

const collectionTypes = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

function observeGarbageCollection(): void {
  const duration = meter().createHistogram('v8js.gc.duration', {
    description: 'Duration of garbage collections',
    unit: 's',
    advice: { explicitBucketBoundaries: [0.001, 0.01, 0.1, 1, 10] },
  });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const type = 'detail' in entry ? collectionTypes.get(Object(entry.detail).kind) : undefined;
      if (type !== undefined) duration.record(entry.duration / 1000, { 'v8js.gc.type': type });
    }
  }).observe({ entryTypes: ['gc'] });
}

function observeProcess(): void {
  const time = meter().createObservableCounter('process.cpu.time', {
    description: 'Processor time of the process',
    unit: 's',
  });
  const memory = meter().createObservableUpDownCounter('process.memory.usage', {
    description: 'Physical memory of the process',
    unit: 'By',
  });
  const uptime = meter().createObservableGauge('process.uptime', {
    description: 'Time since the process started',
    unit: 's',
  });
  meter().addBatchObservableCallback(
    (result) => {
      const { user, system } = process.cpuUsage();
      result.observe(time, user / 1e6, { 'cpu.mode': 'user' });
      result.observe(time, system / 1e6, { 'cpu.mode': 'system' });
      result.observe(memory, process.memoryUsage.rss());
      result.observe(uptime, process.uptime());
    },
    [time, memory, uptime],
  );
}

function observeHeap(): void {
  const used = meter().createObservableUpDownCounter('v8js.memory.heap.used', {
    description: 'Heap memory in use',
    unit: 'By',
  });
  const limit = meter().createObservableUpDownCounter('v8js.memory.heap.limit', {
    description: 'Maximum size of the heap',
    unit: 'By',
  });
  meter().addBatchObservableCallback(
    (result) => {
      for (const { space_name: name, space_used_size: size } of getHeapSpaceStatistics())
        result.observe(used, size, { 'v8js.heap.space.name': name });
      result.observe(limit, getHeapStatistics().heap_size_limit);
    },
    [used, limit],
  );
}
