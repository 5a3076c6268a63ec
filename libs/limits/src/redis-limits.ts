import { createHash } from 'node:crypto';
import type { EventWriter } from '@clinical-launch/crypto/event-macs';
import {
  createRedisKeys,
  createScriptReader,
  defaultPrefix,
  eventTexts,
  listIn,
  listOf,
  type RedisClient,
  type RedisKeys,
  RedisScripts,
  shardOfText,
  shards,
} from '@clinical-launch/redis/redis-scripts';
import {
  attemptRules,
  defaultMostRefusalEvents,
  type FailedAttempt,
  type Limits,
  type RecordedRefusal,
  type RefusalRecord,
} from './limits.ts';

const readScript = createScriptReader(import.meta.url);
const refuseScript = readScript('shared', 'refuse');
const failAttemptScript = readScript('shared', 'fail-attempt');

export type RedisLimitsDependencies = {
  readonly redis: RedisClient;
  readonly prefix?: string;
  readonly mostEvents?: number;
  /**
   * The maximum number of addresses, and of callers with failed attempts, in each of the 16 shards. The
   * default uses 8 MB of Redis.
   */
  readonly maxEntries?: number;
  /** Converts the events to JSON and signs them. By default, the events are not signed. */
  readonly writeEvent?: EventWriter;
};

/**
 * The limits that all replicas share. Each call runs one script, which uses the clock of Redis. Calls are not
 * retried, because Redis may have counted the refusal and stored the event although its reply was lost.
 */
export class RedisLimits implements Limits {
  readonly #scripts: RedisScripts;
  readonly #writeEvent: EventWriter;
  readonly #keys: RedisKeys;
  readonly #mostEventsOfShard: number;
  readonly #maxEntries: number;

  constructor({
    redis,
    prefix = defaultPrefix,
    mostEvents = defaultMostRefusalEvents,
    maxEntries = 2048,
    writeEvent = JSON.stringify,
  }: RedisLimitsDependencies) {
    this.#writeEvent = writeEvent;
    this.#maxEntries = maxEntries;
    this.#scripts = new RedisScripts(redis);
    this.#keys = createRedisKeys(prefix);
    this.#mostEventsOfShard = Math.ceil(mostEvents / shards.length);
  }

  async refuse({ from, limit, events }: RefusalRecord): Promise<RecordedRefusal> {
    const shard = shardOfText(from);
    const { key, refused, committed } = this.#keys;
    const [overForMs, dropped] = await this.#run(
      refuseScript,
      [key(shard, 'refused-addresses'), refused(shard), committed(shard)],
      [
        shortNameOf(from),
        limit?.refusals ?? 0,
        (limit?.windowSeconds ?? 0) * 1000,
        this.#maxEntries,
        this.#mostEventsOfShard,
        ...listOf(eventTexts(this.#writeEvent, events)),
      ],
    );
    return { overForMs, dropped };
  }

  async failAttempt(key: string): Promise<FailedAttempt> {
    const { freeAttempts, firstWaitMs, maxWaitMs, forgottenAfterMs } = attemptRules;
    const [isCounted, waitMs] = await this.#run(
      failAttemptScript,
      [this.#attemptsOf(key)],
      [shortNameOf(key), freeAttempts, firstWaitMs, maxWaitMs, forgottenAfterMs, this.#maxEntries],
    );
    return { isCounted: isCounted === 1, waitMs };
  }

  async #run(...command: Parameters<RedisScripts['runOnce']>): Promise<[number, number]> {
    const [first, second] = listIn(await this.#scripts.runOnce(...command));
    return [Number(first), Number(second)];
  }

  /**
   * Returns the prefix of the Redis hashes with failed attempts. The script appends the number of a period,
   * because each hash contains the attempts of one period.
   */
  #attemptsOf(key: string): string {
    return this.#keys.key(shardOfText(key), 'failed-attempts', '');
  }
}

/** Returns 96 bits of a SHA-256, so that Redis stores short names without addresses or client ids. */
const shortNameOf = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 16);
