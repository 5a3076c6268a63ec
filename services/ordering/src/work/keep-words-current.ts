import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@clinical-launch/service';
import type { OrderingDatabase } from '../store/database.ts';
import { lockOutdatedWords, updateWords } from '../store/request-words.ts';

export type WordsUpkeep = {
  /** Stops after the batch that is under way. */
  stop(): Promise<void>;
};

type WordsUpkeepOptions = {
  readonly database: OrderingDatabase;
  readonly logger: Logger;
  /** Requests of one batch: while they are indexed, nobody else can change them. */
  readonly batchSize?: number;
  /** Milliseconds between two batches, so that users come first. */
  readonly pauseMs?: number;
  /**
   * Milliseconds until it looks again after it found nothing. During a rolling upgrade the release before
   * goes on writing rows that are to be indexed again.
   */
  readonly lookAgainMs?: number;
  /** Milliseconds until it tries again after an error of the database; doubled with each further error. */
  readonly retryMs?: number;
};

const longestRetryMs = 60_000;

/**
 * Indexes again, in the background, the requests whose search words an older release made. Any number of
 * replicas may do so at once. A request that is not indexed yet is only missing from searches.
 */
export function keepWordsCurrent({
  database,
  logger,
  batchSize = 100,
  pauseMs = 200,
  lookAgainMs = 600_000,
  retryMs = 5_000,
}: WordsUpkeepOptions): WordsUpkeep {
  const stopping = new AbortController();
  let indexed = 0;
  let failures = 0;

  /** Indexes one batch. Resolves with the milliseconds to wait before the next one. */
  const step = async (): Promise<number> => {
    try {
      const count = await indexOutdated(database, batchSize);
      failures = 0;
      indexed += count;
      if (count > 0) return pauseMs;
      if (indexed > 0) logger.info({ requests: indexed }, 'stored requests were indexed for the search');
      indexed = 0;
      return lookAgainMs;
    } catch (error) {
      if (failures === 0) logger.warn({ err: error }, 'stored requests wait to be indexed for the search');
      failures += 1;
      return Math.min(retryMs * 2 ** (failures - 1), longestRetryMs);
    }
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      await delay(await step(), undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/**
 * Indexes requests whose words an older version made.
 * @returns how many there were, up to the limit; 0 when none is left, or when other replicas hold the rest
 */
export function indexOutdated(database: OrderingDatabase, limit: number): Promise<number> {
  return database.transaction().execute(async (tx) => {
    const outdated = await lockOutdatedWords(tx, limit);
    for (const request of outdated) await updateWords(tx, request);
    return outdated.length;
  });
}
