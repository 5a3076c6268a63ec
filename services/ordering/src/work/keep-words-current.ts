import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@clinical-launch/service';
import type { OrderingDatabase } from '../store/database.ts';
import { lockOutdatedWords, updateWords } from '../store/request-words.ts';

export type WordsUpkeep = {
  /** Stops after the current batch. */
  stop(): Promise<void>;
};

type WordsUpkeepOptions = {
  readonly database: OrderingDatabase;
  readonly logger: Logger;
  /** IANA zone of the practices */
  readonly timeZone: string;
  /** Requests of one batch: nothing else can change them while they are indexed. */
  readonly batchSize?: number;
  /** Milliseconds between two batches, so that users come first. */
  readonly pauseMs?: number;
  /**
   * Milliseconds until the next poll after it found nothing. During a rolling upgrade, the previous release
   * continues to write rows that need indexing.
   */
  readonly lookAgainMs?: number;
  /** Milliseconds until it retries after an error of the database; doubled with each further error. */
  readonly retryMs?: number;
};

const longestRetryMs = 60_000;

/**
 * Reindexes, in the background, the requests whose search words an older release wrote. Any number of
 * replicas may do so at once. A request that is not indexed yet is only missing from searches.
 */
export function keepWordsCurrent({
  database,
  logger,
  timeZone,
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
      const count = await indexOutdated(database, { timeZone, limit: batchSize });
      failures = 0;
      indexed += count;
      if (count > 0) return pauseMs;
      if (indexed > 0) logger.info({ requests: indexed }, 'search index updated for stored requests');
      indexed = 0;
      return lookAgainMs;
    } catch (error) {
      if (failures === 0)
        logger.warn({ err: error }, 'search index of stored requests is not up to date: retrying');
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
 * Reindexes requests whose words an older version wrote.
 * @param timeZone IANA zone of the practices
 * @returns their number, up to the limit; 0 if none is left, or other replicas have locked the rest
 */
export function indexOutdated(
  database: OrderingDatabase,
  { timeZone, limit }: { readonly timeZone: string; readonly limit: number },
): Promise<number> {
  return database.transaction().execute(async (tx) => {
    const outdated = await lockOutdatedWords(tx, limit);
    for (const request of outdated) await updateWords(tx, request, timeZone);
    return outdated.length;
  });
}
