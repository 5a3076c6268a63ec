import { tooMany } from '@clinical-launch/http/errors';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import type { Limits } from './limits.ts';

/** Delays callers that repeatedly fail to authenticate. */
export type Attempts = {
  /**
   * Counts a failed attempt. Throws ServiceError 429 with `Retry-After` if callers with this key must wait,
   * and then does not count the attempt.
   */
  failed(key: string): Promise<void>;
};

type AttemptsOptions = {
  readonly limits: Pick<Limits, 'failAttempt'>;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** The maximum number of keys that a process stores. Then it forgets all keys, which Redis still counts. */
const maxKeys = 10_000;

/**
 * Creates the function that delays callers after failed attempts. Redis counts the failures of all replicas.
 * Each process also stores the waits after failures that it handled, so that a flood needs no round trips.
 */
export function createAttempts({ limits, clock, logger }: AttemptsOptions): Attempts {
  const waitsUntil = new Map<string, number>();
  const logFailure = (error: unknown) => {
    logger.error({ err: error }, 'a failed attempt to authenticate could not be counted');
  };
  return {
    async failed(key) {
      const leftMs = (waitsUntil.get(key) ?? 0) - clock.now();
      if (leftMs > 0) throw tooMany(leftMs);
      const attempt = await limits.failAttempt(key).catch(logFailure);
      if (attempt === undefined) return;
      if (waitsUntil.size >= maxKeys) waitsUntil.clear();
      waitsUntil.set(key, clock.now() + attempt.waitMs);
      if (!attempt.isCounted) throw tooMany(attempt.waitMs);
    },
  };
}
