import { createKeys, defaultPrefix, drawAttempt, type Keys } from '../redis-keys.ts';
import { type RedisClient, RedisScripts, readScript } from '../redis-scripts.ts';
import { shardOfText } from '../ticket-text.ts';

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
  /** Leases requests. @throws TicketsUnavailable when the store does not answer */
  lease(key: string, request: LeaseRequest): Promise<RateLease>;
  /** Returns the unused part of a lease. @throws TicketsUnavailable */
  giveBack(key: string, lease: { readonly id: string; readonly unused: number }): Promise<void>;
}

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
  readonly #keys: Keys;
  readonly #service: string;

  /**
   * @param backing with the service whose clients are counted; the clients of other services are out of reach
   */
  constructor({ redis, service, prefix = defaultPrefix }: RedisRatesDependencies) {
    this.#scripts = new RedisScripts(redis);
    this.#keys = createKeys(prefix);
    this.#service = service;
  }

  async lease(key: string, { perSecond, wanted, heldMs }: LeaseRequest): Promise<RateLease> {
    const id = drawAttempt();
    const reply = await this.#scripts.runOnce(
      leaseScript,
      [this.#leasesOf(key)],
      [id, perSecond, wanted, heldMs],
    );
    if (!Array.isArray(reply)) throw new Error('The script did not return a list');
    return { id, granted: Number(reply[0]), waitMs: Number(reply[1]) };
  }

  async giveBack(key: string, { id, unused }: { id: string; unused: number }): Promise<void> {
    await this.#scripts.runOnce(giveBackScript, [this.#leasesOf(key)], [id, unused]);
  }

  #leasesOf(key: string): string {
    return this.#keys.leases(shardOfText(key), this.#service, key);
  }
}
