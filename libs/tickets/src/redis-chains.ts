import type { EventWriter } from '@clinical-launch/crypto/event-macs';
import {
  answerLifetimeMs,
  createScriptReader,
  defaultPrefix,
  drawAttempt,
  eventTexts,
  listIn,
  listOf,
  milliseconds,
  type RedisClient,
  RedisScripts,
  shardOfText,
  shards,
} from '@clinical-launch/redis/redis-scripts';
import type { Chains, Once } from './chains.ts';
import { readChain } from './ticket-format.ts';
import { createTicketKeys, type TicketKeys } from './ticket-keys.ts';

const readScript = createScriptReader(import.meta.url);
const useScript = readScript('shared', 'proofs', 'use-chain');
const revokeScript = readScript('shared', 'chains', 'revoke-chain');
const isRevokedScript = readScript('is-chain-revoked');
const findOfScript = readScript('find-chain-of');
const findRecordScript = readScript('find-chain-record');
const listScript = readScript('shared', 'chains', 'list-chains');
const useOnceScript = readScript('shared', 'use-once');

export type RedisChainsDependencies = {
  readonly redis: RedisClient;
  /** The prefix of every key. The tickets and the outbox of these chains must have the same prefix. */
  readonly prefix?: string;
  /** Signs the events for the services that consume them. Without it, events are stored unsigned. */
  readonly writeEvent?: EventWriter;
};

/**
 * The chains of `RedisTickets`. Each operation is one script and one round trip, except `list`, which asks
 * every shard at the same time.
 * @throws RedisUnavailable when Redis does not answer
 */
export class RedisChains implements Chains {
  readonly #scripts: RedisScripts;
  readonly #keys: TicketKeys;
  readonly #writeEvent: EventWriter;

  constructor({ redis, prefix = defaultPrefix, writeEvent = JSON.stringify }: RedisChainsDependencies) {
    this.#scripts = new RedisScripts(redis);
    this.#keys = createTicketKeys(prefix);
    this.#writeEvent = writeEvent;
  }

  use: Chains['use'] = async (correlationId, { proof, limit, events }) => {
    const shard = shardOfText(correlationId);
    const { uses, outbox, committed, ...keys } = this.#keys;
    const attempt = drawAttempt();
    const once =
      proof === undefined ? keys.appended(shard, attempt) : keys.proof(shard, correlationId, proof.name);
    const reply = await this.#scripts.run(
      useScript,
      [uses(shard, correlationId), once, outbox(shard), committed(shard)],
      [
        attempt,
        proof === undefined ? answerLifetimeMs : milliseconds(proof.forSeconds),
        limit.uses,
        milliseconds(limit.seconds),
        ...listOf(eventTexts(this.#writeEvent, events, correlationId)),
      ],
    );
    const [outcome, waitMs] = listIn(reply);
    if (outcome === 'limited') return { outcome, waitSeconds: Number(waitMs) / 1000 };
    return { outcome: outcome === 'accepted' ? outcome : 'used-proof' };
  };

  revoke: Chains['revoke'] = async (
    correlationId,
    { forSeconds, events, owner = '', claim = correlationId },
  ) => {
    const shard = shardOfText(claim);
    const { chain, chainRecord, outbox, committed } = this.#keys;
    const reply = await this.#scripts.run(
      revokeScript,
      [chain(shard, correlationId), chainRecord(shard, correlationId), outbox(shard), committed(shard)],
      [milliseconds(forSeconds), owner, ...listOf(eventTexts(this.#writeEvent, events, correlationId))],
    );
    return reply === 'revoked';
  };

  isRevoked: Chains['isRevoked'] = async (correlationId) => {
    const chain = this.#keys.chain(shardOfText(correlationId), correlationId);
    return (await this.#scripts.run(isRevokedScript, [chain], [])) === 1;
  };

  findOf: Chains['findOf'] = async (kind, ticket) => {
    const chain = readChain(ticket);
    if (chain === undefined) return undefined;
    const keys = [this.#keys.ticket(chain.shard, kind, ticket), this.#keys.used(chain.shard, kind, ticket)];
    const reply = await this.#scripts.run(findOfScript, keys, []);
    return typeof reply === 'string' ? reply : undefined;
  };

  findRecord: Chains['findRecord'] = async (correlationId) => {
    const key = this.#keys.chainRecord(shardOfText(correlationId), correlationId);
    const [owner, audience] = listIn(await this.#scripts.run(findRecordScript, [key], []));
    return typeof owner === 'string' && typeof audience === 'string' ? { owner, audience } : undefined;
  };

  list: Chains['list'] = async ({ owner, labels }) => {
    if (labels.length === 0) throw new TypeError('A search for chains needs a label');
    const { chain, labelled } = this.#keys;
    const replies = await Promise.all(
      shards.map((shard) => {
        const ofLabels = labels.map((label) => labelled(shard, { owner, label }));
        return this.#scripts.run(listScript, [chain(shard), ...ofLabels], []);
      }),
    );
    return replies.flatMap((reply) => listIn(reply).map(String));
  };
}

/**
 * Names that count once for all replicas of all services. @throws RedisUnavailable when Redis does not answer
 */
export class RedisOnce implements Once {
  readonly #scripts: RedisScripts;
  readonly #keys: TicketKeys;
  readonly #writeEvent: EventWriter;

  constructor({ redis, prefix = defaultPrefix, writeEvent = JSON.stringify }: RedisChainsDependencies) {
    this.#scripts = new RedisScripts(redis);
    this.#keys = createTicketKeys(prefix);
    this.#writeEvent = writeEvent;
  }

  use: Once['use'] = async (name, { forSeconds, events }) => {
    const shard = shardOfText(name);
    const { presented, outbox, committed } = this.#keys;
    const reply = await this.#scripts.run(
      useOnceScript,
      [presented(shard, name), outbox(shard), committed(shard)],
      [drawAttempt(), milliseconds(forSeconds), ...listOf(eventTexts(this.#writeEvent, events))],
    );
    return reply === 'used';
  };
}
