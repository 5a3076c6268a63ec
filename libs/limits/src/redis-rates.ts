import {
  createRedisKeys,
  defaultPrefix,
  drawAttempt,
  type RedisKeys,
} from '@clinical-launch/redis/redis-keys';
import { createScriptReader, type RedisClient, RedisScripts } from '@clinical-launch/redis/redis-scripts';
import { listIn } from '@clinical-launch/redis/script-values';
import { shardOfText } from '@clinical-launch/redis/shards';

export type LeaseRequest = {
  /** The maximum number of requests in any one second. */
  readonly perSecond: number;
  /** The maximum number of requests to lease. */
  readonly wanted: number;
  /** Milliseconds within which a lease of more than one request is used. */
  readonly heldMs: number;
};

export type RateLease = {
  readonly id: string;
  /** The number of allowed requests. */
  readonly granted: number;
  /** Milliseconds until more requests may be allowed, if none was granted. */
  readonly waitMs: number;
};

/** The rates of registered clients, which all replicas share by leasing requests. */
export interface Rates {
  /** Leases requests. @throws RedisUnavailable when the store does not answer */
  lease(key: string, request: LeaseRequest): Promise<RateLease>;
  /** Returns the unused part of a lease. @throws RedisUnavailable */
  giveBack(key: string, lease: { readonly id: string; readonly unused: number }): Promise<void>;
}

const readScript = createScriptReader(import.meta.url);
const leaseScript = readScript('lease');
const giveBackScript = readScript('give-back');

export type RedisRatesDependencies = {
  readonly redis: RedisClient;
  readonly service: string;
  readonly prefix?: string;
};

/** Rates on Redis: one sorted set for each client that has a limit and called within the last second. */
export class RedisRates implements Rates {
  readonly #scripts: RedisScripts;
  readonly #keys: RedisKeys;
  readonly #service: string;

  /**
   * @param backing with the service whose clients are counted; the clients of other services are out of reach
   */
  constructor({ redis, service, prefix = defaultPrefix }: RedisRatesDependencies) {
    this.#scripts = new RedisScripts(redis);
    this.#keys = createRedisKeys(prefix);
    this.#service = service;
  }

  async lease(key: string, { perSecond, wanted, heldMs }: LeaseRequest): Promise<RateLease> {
    const id = drawAttempt();
    const args = [id, perSecond, wanted, heldMs];
    const [granted, waitMs] = listIn(await this.#scripts.runOnce(leaseScript, [this.#leasesOf(key)], args));
    return { id, granted: Number(granted), waitMs: Number(waitMs) };
  }

  async giveBack(key: string, { id, unused }: { id: string; unused: number }): Promise<void> {
    await this.#scripts.runOnce(giveBackScript, [this.#leasesOf(key)], [id, unused]);
  }

  #leasesOf(client: string): string {
    const { key, hash } = this.#keys;
    return key(shardOfText(client), 'leases', this.#service, hash(client));
  }
}
