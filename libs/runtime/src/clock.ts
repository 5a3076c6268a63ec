import { setTimeout as delay } from 'node:timers/promises';

/**
 * The source of the current time. Services never read the machine's clock directly, so that tests can change
 * the time.
 */
export type Clock = {
  /** Milliseconds since 1970-01-01T00:00:00Z */
  now(): number;
};

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/**
 * Waits for a result for at most `ms` milliseconds. After that, the work continues but its result is ignored.
 * @param late returns the error for a result that is late
 * @throws the error of the work, or the error that `late` returns
 */
export async function withTimeout<Result>(
  ms: number,
  work: Promise<Result>,
  late: () => Error = () => new Error(`No result within ${ms} ms`),
): Promise<Result> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), ms);
  return await Promise.race([work, tooLate]).finally(() => clearTimeout(timer));
}

/** Waits for `ms` milliseconds. If the signal aborts, resolves early. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
