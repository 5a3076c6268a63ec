import type { EventWriter } from '@clinical-launch/crypto/event-macs';
import { eventTexts } from '../redis-arguments.ts';
import { createKeys, defaultPrefix, type RevocationKeys } from '../redis-keys.ts';
import { listOf, type RedisClient, RedisScripts, readScript } from '../redis-scripts.ts';
import {
  defaultMostRevokedTokens,
  type RevocationList,
  type RevokedPage,
  type RevokedTokens,
  type RevokeOutcome,
  revokedTokensPerPage,
  type TokenRevocation,
} from './revoked-tokens.ts';

const revokeScript = readScript('shared', 'ends', 'revoke-token');
const hasScript = readScript('ends', 'is-token-revoked');
const readAfterScript = readScript('shared', 'ends', 'read-revoked-tokens');

export type RedisRevokedTokensDependencies = {
  readonly redis: RedisClient;
  readonly prefix?: string;
  readonly list?: RevocationList;
  /** The maximum number of live entries of an owner. */
  readonly mostTokens?: number;
  /** Signs the events for the services that consume them; without it, they are stored unsigned. */
  readonly writeEvent?: EventWriter;
};

/**
 * The revoked tokens of all replicas. Each call is one script, and time is Redis's own. All owners share one
 * list in one shard, so a verifier reads it in one round trip.
 */
export class RedisRevokedTokens implements RevokedTokens {
  readonly #scripts: RedisScripts;
  readonly #writeEvent: EventWriter;
  readonly #keys: RevocationKeys;
  readonly #mostTokens: number;

  constructor({
    redis,
    prefix = defaultPrefix,
    list = 'revoked-tokens',
    mostTokens = defaultMostRevokedTokens,
    writeEvent = JSON.stringify,
  }: RedisRevokedTokensDependencies) {
    this.#writeEvent = writeEvent;
    this.#scripts = new RedisScripts(redis);
    this.#keys = createKeys(prefix).revocations(list);
    this.#mostTokens = mostTokens;
  }

  async revoke(tokenId: string, { owner, forSeconds, events }: TokenRevocation): Promise<RevokeOutcome> {
    const { list, ends, sequence, endsOf, outbox, committed } = this.#keys;
    const reply = await this.#scripts.run(
      revokeScript,
      [list, ends, sequence, endsOf(owner), outbox, committed],
      [
        tokenId,
        Math.max(1, Math.round(forSeconds * 1000)),
        this.#mostTokens,
        ...listOf(eventTexts(this.#writeEvent, events)),
      ],
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
    // No second attempt: callers read the list again soon.
    const reply = await this.#scripts.runOnce(
      readAfterScript,
      [list, ends, sequence],
      [history, after, revokedTokensPerPage],
    );
    if (!Array.isArray(reply)) throw new Error('The script did not return a list');
    const [newHistory, last, hasMore, ...entries] = reply.map(String);
    const tokens = Array.from({ length: entries.length / 2 }, (_, at) => ({
      tokenId: entries[2 * at] ?? '',
      forMs: Number(entries[2 * at + 1]),
    }));
    return { position: `${newHistory} ${last}`, hasMore: hasMore === '1', tokens };
  }
}
