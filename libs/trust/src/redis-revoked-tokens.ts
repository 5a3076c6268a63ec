import type { EventWriter } from '@clinical-launch/crypto/event-macs';
import {
  createRedisKeys,
  createScriptReader,
  defaultPrefix,
  eventTexts,
  listIn,
  listOf,
  milliseconds,
  type RedisClient,
  RedisScripts,
  shardOfText,
} from '@clinical-launch/redis/redis-scripts';
import {
  defaultMaxRevokedTokens,
  type RevocationList,
  type RevokedPage,
  type RevokedTokens,
  type RevokeOutcome,
  revokedTokensPerPage,
  type TokenRevocation,
} from './revoked-tokens.ts';

const readScript = createScriptReader(import.meta.url);
const revokeScript = readScript('shared', 'revoke-token');
const hasScript = readScript('shared', 'is-token-revoked');
const readAfterScript = readScript('shared', 'read-revoked-tokens');

/** Returns the names of the keys of a list, all in one shard with the outbox of their events. */
function createListKeys(prefix: string, list: RevocationList) {
  const { key, hash, outbox, committed } = createRedisKeys(prefix);
  const shard = shardOfText(list);
  return {
    list: key(shard, list),
    ends: key(shard, `${list}-ends`),
    /** The number of revocations so far. It never decreases. */
    sequence: key(shard, `${list}-sequence`),
    endsOf: (owner: string) => key(shard, `${list}-of`, hash(owner)),
    outbox: outbox(shard),
    committed: committed(shard),
  };
}

export type RedisRevokedTokensDependencies = {
  readonly redis: RedisClient;
  readonly prefix?: string;
  readonly list?: RevocationList;
  /** The maximum number of unexpired entries of an owner. */
  readonly maxTokens?: number;
  /** Signs the events for the services that consume them. Without it, events are stored unsigned. */
  readonly writeEvent?: EventWriter;
};

/**
 * The revoked tokens of all replicas. Each call is one script, and times are from the Redis clock. All owners
 * share one list in one shard, so a verifier reads a page in one round trip.
 */
export class RedisRevokedTokens implements RevokedTokens {
  readonly #scripts: RedisScripts;
  readonly #writeEvent: EventWriter;
  readonly #keys: ReturnType<typeof createListKeys>;
  readonly #maxTokens: number;

  constructor({
    redis,
    prefix = defaultPrefix,
    list = 'revoked-tokens',
    maxTokens = defaultMaxRevokedTokens,
    writeEvent = JSON.stringify,
  }: RedisRevokedTokensDependencies) {
    this.#writeEvent = writeEvent;
    this.#scripts = new RedisScripts(redis);
    this.#keys = createListKeys(prefix, list);
    this.#maxTokens = maxTokens;
  }

  async revoke(tokenId: string, { owner, forSeconds, events }: TokenRevocation): Promise<RevokeOutcome> {
    const { list, ends, sequence, endsOf, outbox, committed } = this.#keys;
    const reply = await this.#scripts.run(
      revokeScript,
      [list, ends, sequence, endsOf(owner), outbox, committed],
      [tokenId, milliseconds(forSeconds), this.#maxTokens, ...listOf(eventTexts(this.#writeEvent, events))],
    );
    return reply === 'revoked'
      ? { outcome: 'revoked' }
      : { outcome: 'full', retryAfterSeconds: Number(reply) / 1000 };
  }

  async has(tokenId: string): Promise<boolean> {
    return (await this.#scripts.run(hasScript, [this.#keys.ends], [tokenId])) === 1;
  }

  async readAfter(position = ' 0'): Promise<RevokedPage> {
    const { list, ends, sequence } = this.#keys;
    const [history = '', after = '0'] = position.split(' ');
    // Does not retry, because callers soon read the list again.
    const reply = await this.#scripts.runOnce(
      readAfterScript,
      [list, ends, sequence],
      [history, after, revokedTokensPerPage],
    );
    const [newHistory, last, hasMore, ...entries] = listIn(reply).map(String);
    const tokens = Array.from({ length: entries.length / 2 }, (_, at) => ({
      tokenId: entries[2 * at] ?? '',
      forMs: Number(entries[2 * at + 1]),
    }));
    return { position: `${newHistory} ${last}`, hasMore: hasMore === '1', tokens };
  }
}
