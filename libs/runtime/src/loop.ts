import { pause } from './clock.ts';

/** Background work that repeats until it is stopped. */
export type Loop = {
  /** Resolves after the first run, whether it succeeded or failed. */
  readonly firstRun: Promise<void>;
  /** Starts the next run without waiting for `everyMs`. Has no effect after a failed run. */
  readonly nudge: () => void;
  /** Stops the loop: ends the wait, or lets the current run finish. Resolves when no further run follows. */
  readonly stop: () => Promise<void>;
};

export type LoopOptions = {
  /**
   * Does the work of one run. May return the milliseconds until the next run, in place of `everyMs`. The
   * signal aborts when the loop is stopped.
   */
  readonly work: (stopping: AbortSignal) => Promise<number | void>;
  /** Milliseconds between the end of a run and the start of the next run. */
  readonly everyMs: number;
  /** Reports a failed run, with the number of failures in a row. */
  readonly onFailure: (error: unknown, failures: number) => void;
  /** Reports the first success after failures. */
  readonly onRecovery?: () => void;
  /**
   * Returns the milliseconds between a failed run and the next run, for instance `backoff`; `everyMs` by
   * default.
   */
  readonly retryAfterMs?: (failures: number) => number;
  /**
   * Milliseconds between a call of `nudge` and the run that it causes, so that one run handles the work of
   * several calls.
   */
  readonly gatherMs?: number;
  /** Whether the wait between two runs keeps the process alive; true by default. */
  readonly ref?: boolean;
};

/**
 * Returns a function that returns the milliseconds to wait after a number of failures in a row: `firstMs`,
 * then twice as long after each failure, up to `maxMs`.
 */
export const backoff =
  ({ firstMs, maxMs }: { readonly firstMs: number; readonly maxMs: number }) =>
  (failures: number): number =>
    Math.min(firstMs * 2 ** (failures - 1), maxMs);

/**
 * Runs work immediately and then repeatedly, never twice at once, until `stop` is called. If `nudge` is
 * called during a run, another run follows, because the current run may have missed the new work.
 */
export function startLoop(options: LoopOptions): Loop {
  const { work, everyMs, onFailure, onRecovery, retryAfterMs = () => everyMs, gatherMs = 0 } = options;
  const stopping = new AbortController();
  const { promise: firstRun, resolve: endFirstRun } = Promise.withResolvers<void>();
  let failures = 0;
  let isNudged = false;
  let wake = () => {};

  /** Runs once. Returns the milliseconds until the next run. */
  const runOnce = async (): Promise<number> => {
    isNudged = false;
    try {
      const nextInMs = (await work(stopping.signal)) ?? everyMs;
      if (failures > 0) onRecovery?.();
      failures = 0;
      return nextInMs;
    } catch (error) {
      failures += 1;
      isNudged = false;
      onFailure(error, failures);
      return retryAfterMs(failures);
    }
  };
  const wait = async (ms: number): Promise<void> => {
    const dueAt = performance.now() + ms;
    const { promise: woken, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    if (!isNudged && !stopping.signal.aborted) {
      const timer = setTimeout(resolve, ms);
      if (options.ref === false) timer.unref();
      await woken;
      clearTimeout(timer);
    }
    const gatheringMs = Math.min(gatherMs, dueAt - performance.now());
    if (isNudged && gatheringMs > 0) await pause(gatheringMs, stopping.signal);
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      const nextInMs = await runOnce();
      endFirstRun();
      await wait(nextInMs);
    }
  };
  const running = run();
  return {
    firstRun,
    nudge() {
      if (failures > 0) return;
      isNudged = true;
      wake();
    },
    async stop() {
      stopping.abort();
      wake();
      await running;
    },
  };
}
