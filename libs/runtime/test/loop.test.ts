import { until } from '@clinical-launch/testing/until';
import { describe, expect, it } from '@jest/globals';
import { backoff, type LoopOptions, startLoop } from '../src/loop.ts';

const anHourMs = 3_600_000;

/** Starts a loop whose runs throw the given errors in order. Its interval is an hour. */
function aLoop({ errors = [], ...options }: Partial<LoopOptions> & { errors?: Error[] } = {}) {
  const runsAt: number[] = [];
  const reported: unknown[] = [];
  const loop = startLoop({
    async work() {
      runsAt.push(performance.now());
      const error = errors.shift();
      if (error !== undefined) throw error;
    },
    everyMs: anHourMs,
    onFailure: (error, failures) => void reported.push([error, failures]),
    onRecovery: () => void reported.push('recovered'),
    ...options,
  });
  return { loop, runsAt, reported };
}

describe('a loop', () => {
  it('runs immediately, and again after its interval', async () => {
    const { loop, runsAt, reported } = aLoop({ everyMs: 20 });
    expect(runsAt).toHaveLength(1);
    await until(() => runsAt.length === 3);
    await loop.stop();
    expect(reported).toEqual([]);
    const [, second = 0, third = 0] = runsAt;
    expect(third - second).toBeGreaterThanOrEqual(19);
  });

  it('runs again after the delay that a run returns', async () => {
    let runs = 0;
    const { loop } = aLoop({ work: async () => ((runs += 1) === 1 ? 1 : undefined) });
    await until(() => runs === 2);
    await loop.stop();
  });

  it('runs once for several quick calls of nudge()', async () => {
    const { loop, runsAt } = aLoop({ gatherMs: 20 });
    await loop.firstRun;
    const nudgedAt = performance.now();
    loop.nudge();
    loop.nudge();
    await until(() => runsAt.length > 1);
    await loop.stop();
    expect(runsAt).toHaveLength(2);
    expect((runsAt[1] ?? 0) - nudgedAt).toBeGreaterThanOrEqual(19);
  });

  it('runs once more if nudge() is called during a run', async () => {
    let runs = 0;
    const isNudged = Promise.withResolvers<void>();
    const { loop } = aLoop({
      async work() {
        runs += 1;
        await isNudged.promise;
      },
    });
    loop.nudge();
    isNudged.resolve();
    await until(() => runs === 2);
    await loop.stop();
    expect(runs).toBe(2);
  });

  it('reports consecutive failures and the recovery, and waits longer after each failure', async () => {
    const errors = [new Error('one'), new Error('two')];
    const [one, two] = errors;
    const { loop, runsAt, reported } = aLoop({ errors, retryAfterMs: backoff({ firstMs: 20, maxMs: 1000 }) });
    await until(() => runsAt.length === 3);
    await loop.stop();
    expect(reported).toEqual([[one, 1], [two, 2], 'recovered']);
    const [first = 0, second = 0, third = 0] = runsAt;
    expect(second - first).toBeGreaterThanOrEqual(19);
    expect(third - second).toBeGreaterThanOrEqual(39);
  });

  it('does not run before its retry is due if nudge() is called after a failure', async () => {
    const { loop, runsAt } = aLoop({ errors: [new Error('one')] });
    await loop.firstRun;
    loop.nudge();
    await loop.stop();
    expect(runsAt).toHaveLength(1);
  });

  it('stops immediately while it waits', async () => {
    const { loop, runsAt } = aLoop();
    await loop.firstRun;
    await loop.stop();
    loop.nudge();
    expect(runsAt).toHaveLength(1);
  });

  it('aborts the current run when the loop stops, and waits until that run ends', async () => {
    let hasEnded = false;
    const { loop } = aLoop({
      async work(stopping) {
        await new Promise((resolve) => stopping.addEventListener('abort', resolve));
        hasEnded = true;
      },
    });
    await loop.stop();
    expect(hasEnded).toBe(true);
  });
});

it('a backoff doubles up to its maximum', () => {
  const retryAfterMs = backoff({ firstMs: 200, maxMs: 1000 });
  expect([1, 2, 3, 4, 2000].map(retryAfterMs)).toEqual([200, 400, 800, 1000, 1000]);
});
