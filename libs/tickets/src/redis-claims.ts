import {
  createScriptReader,
  defaultPrefix,
  drawAttempt,
  type RedisClient,
  RedisScripts,
  type Shard,
  shardOfText,
  shards,
} from '@clinical-launch/redis/redis-scripts';
import type { Claims, HeldClaim } from './claims.ts';
import { createTicketKeys, type TicketKeys } from './ticket-keys.ts';

const readScript = createScriptReader(import.meta.url);
const holdScript = readScript('shared', 'claims', 'hold-claims');
const beginScript = readScript('begin-rebuild');
const endScript = readScript('end-rebuild');
const completeScript = readScript('are-claims-complete');

/** Milliseconds that a rebuild may take. After that, it counts as failed and must start again. */
const rebuiltWithinMs = 3_600_000;
/**
 * The maximum number of claims in one run of the script, so that a run takes Redis less than a millisecond.
 */
const claimsPerScript = 125;

/**
 * The claims of `RedisTickets`. In each shard, a marker states that the claims are complete. If Redis loses
 * its data, it loses the marker too.
 */
export class RedisClaims implements Claims {
  readonly #scripts: RedisScripts;
  readonly #keys: TicketKeys;

  constructor({ redis, prefix = defaultPrefix }: { redis: RedisClient; prefix?: string }) {
    this.#scripts = new RedisScripts(redis);
    this.#keys = createTicketKeys(prefix);
  }

  async areComplete(): Promise<boolean> {
    const { claimsComplete } = this.#keys;
    const marks = shards.map((shard) => this.#scripts.run(completeScript, [claimsComplete(shard)], []));
    return (await Promise.all(marks)).every((isComplete) => isComplete === 1);
  }

  async hold(claims: readonly HeldClaim[]): Promise<void> {
    const byShard = Map.groupBy(claims, ({ name }) => shardOfText(name));
    await Promise.all([...byShard].map(([shard, its]) => this.#holdIn(shard, its)));
  }

  async rebuild(recorded: AsyncIterable<readonly HeldClaim[]>): Promise<boolean> {
    const attempt = drawAttempt();
    const { rebuilding, claimsComplete } = this.#keys;
    const begin = (shard: Shard) =>
      this.#scripts.run(beginScript, [rebuilding(shard, attempt)], [rebuiltWithinMs]);
    await Promise.all(shards.map(begin));
    for await (const page of recorded) await this.hold(page);
    const end = (shard: Shard) =>
      this.#scripts.run(endScript, [rebuilding(shard, attempt), claimsComplete(shard)], []);
    return (await Promise.all(shards.map(end))).every((isWhole) => isWhole === 1);
  }

  async #holdIn(shard: Shard, claims: readonly HeldClaim[]): Promise<void> {
    for (let at = 0; at < claims.length; at += claimsPerScript) {
      const some = claims
        .slice(at, at + claimsPerScript)
        .map(({ name, ...claim }) => ({ ...claim, ...this.#keys.claim(shard, name) }));
      await this.#scripts.run(
        holdScript,
        some.map(({ claims: hash }) => hash),
        some.flatMap(({ field, holder, expiresAt }) => [field, holder, expiresAt]),
      );
    }
  }
}
