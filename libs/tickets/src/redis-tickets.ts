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
  millisecondsOrNone,
  type RedisClient,
  RedisScripts,
  shardOfText,
  shards,
} from '@clinical-launch/redis/redis-scripts';
import { TicketCommands } from './redis-arguments.ts';
import { readAdditionalIssue, readChainUse, readIssue, readRedemption, textsOf } from './redis-replies.ts';
import {
  assertLabelled,
  assertRecordable,
  assertRepeatable,
  beginChain,
  nameTicket,
  readChain,
  type SealLogger,
  type TicketSealers,
  TicketSeals,
} from './ticket-format.ts';
import { createTicketKeys, type TicketKeys } from './ticket-keys.ts';
import type { Tickets } from './tickets.ts';

const readScript = createScriptReader(import.meta.url);
const findScript = readScript('shared', 'chains', 'ends', 'find');
const claimScript = readScript('shared', 'use-once');
const useChainScript = readScript('shared', 'proofs', 'use-chain');
const revokeChainScript = readScript('shared', 'chains', 'revoke-chain');
const findChainOfScript = readScript('find-chain-of');
const findChainRecordScript = readScript('find-chain-record');
const findChainsScript = readScript('shared', 'chains', 'list-chains');
const isChainRevokedScript = readScript('is-chain-revoked');

export type RedisTicketsDependencies = {
  readonly redis: RedisClient;
  readonly sealers: TicketSealers;
  /** Logs an error when a stored record was not sealed for its ticket. */
  readonly logger?: SealLogger;
  /** The prefix of every key. The outbox of these tickets must have the same prefix. */
  readonly prefix?: string;
  /** The seconds for which a replay is answered `used` instead of `unknown`. */
  readonly usedMarkerSeconds?: number;
  /**
   * The seconds after a promotion or a restart of Redis during which older tickets are refused. By default,
   * the lifetime of a launch token.
   */
  readonly failoverGuardSeconds?: number;
  /** Whether a ticket with a claim is issued only while the claims are complete (`RedisClaims`). */
  readonly requiresCompleteClaims?: boolean;
  /** Signs the events for the services that consume them. Without it, events are stored unsigned. */
  readonly writeEvent?: EventWriter;
};

/**
 * Tickets that all replicas of all services share. Each operation is one script and one round trip, so it
 * keeps the guarantees of `Tickets` during any failure. Times are those of the Redis clock. A request whose
 * reply was lost is retried once and gets the answer of its first attempt. Redis stores hashes of the
 * tickets, and the encrypted context and detail, which only a holder of a ticket of the same chain can
 * decrypt. A moved or changed record makes its ticket `unknown`.
 * @throws RedisUnavailable when Redis does not answer, for older tickets right after a restart or a failover,
 * and for claims while they are being restored
 */
export class RedisTickets implements Tickets {
  readonly #scripts: RedisScripts;
  readonly #seals: TicketSeals;
  readonly #keys: TicketKeys;
  readonly #commands: TicketCommands;
  readonly #writeEvent: EventWriter;

  constructor({
    redis,
    sealers,
    logger,
    prefix = defaultPrefix,
    usedMarkerSeconds = 86_400,
    failoverGuardSeconds = 10,
    requiresCompleteClaims = false,
    writeEvent = JSON.stringify,
  }: RedisTicketsDependencies) {
    this.#scripts = new RedisScripts(redis);
    this.#seals = new TicketSeals(sealers, logger);
    this.#keys = createTicketKeys(prefix);
    this.#commands = new TicketCommands({
      keys: this.#keys,
      seals: this.#seals,
      guardMs: milliseconds(failoverGuardSeconds),
      usedMarkerMs: milliseconds(usedMarkerSeconds),
      requiresCompleteClaims,
      writeEvent,
    });
    this.#writeEvent = writeEvent;
  }

  issue: Tickets['issue'] = async (kind, request) => {
    assertRecordable(request);
    const { claim, correlationId } = request;
    const chain = beginChain(correlationId, shardOfText(claim?.name ?? correlationId));
    const text = nameTicket(chain);
    const reply = await this.#scripts.run(...this.#commands.issue({ kind, text, chain }, request));
    return readIssue(reply, text);
  };

  issueAdditional: Tickets['issueAdditional'] = async (kind, request) => {
    const chainOfLive = readChain(request.live.ticket);
    if (chainOfLive === undefined) return { outcome: 'unknown' };
    const { shard, correlationId } = chainOfLive;
    const chain = beginChain(correlationId, shard);
    const ticket = nameTicket(chain);
    const reply = await this.#scripts.run(
      ...this.#commands.issueAdditional({ kind, text: ticket, chain }, request),
    );
    return readAdditionalIssue(reply, { ticket, correlationId });
  };

  redeem: Tickets['redeem'] = async (kind, ticket, request) => {
    assertRepeatable(request);
    const chain = readChain(ticket);
    if (chain === undefined) return { outcome: 'unknown' };
    const presented = { kind, text: ticket, chain };
    const { successor } = request;
    const next = successor === undefined ? undefined : this.#seals.nameSuccessor(successor, presented);
    const reply = await this.#scripts.run(...this.#commands.redeem(presented, request, next));
    return readRedemption(reply, { seals: this.#seals, presented }, (derivedBy) =>
      // A repetition returns the successor that was derived before, even if the keys have been rotated since.
      successor === undefined || derivedBy === undefined
        ? next
        : derivedBy
            .split(' ')
            .reduce((text, id) => this.#seals.nameSuccessor(successor, { ...presented, text }, id), ticket),
    );
  };

  find: Tickets['find'] = async (kind, ticket, { extendSeconds } = {}) => {
    const chain = readChain(ticket);
    if (chain === undefined) return undefined;
    const keys = [this.#keys.ticket(chain.shard, kind, ticket), this.#keys.chain(chain.shard)];
    const reply = await this.#scripts.run(findScript, keys, [millisecondsOrNone(extendSeconds)]);
    const [correlationId, context, detail, endsInMs] = textsOf(reply);
    if (correlationId === undefined) return undefined;
    return this.#seals.open({ kind, text: ticket, chain }, { correlationId, context, detail, endsInMs });
  };

  claim: Tickets['claim'] = async (name, { forSeconds, events }) => {
    const shard = shardOfText(name);
    const { presented, outbox, committed } = this.#keys;
    const reply = await this.#scripts.run(
      claimScript,
      [presented(shard, name), outbox(shard), committed(shard)],
      [drawAttempt(), milliseconds(forSeconds), ...listOf(eventTexts(this.#writeEvent, events))],
    );
    return reply === 'claimed';
  };

  useChain: Tickets['useChain'] = async (correlationId, { proof, limit, events }) => {
    const shard = shardOfText(correlationId);
    const keys = this.#keys;
    const attempt = drawAttempt();
    const once =
      proof === undefined ? keys.appended(shard, attempt) : keys.proof(shard, correlationId, proof.name);
    const reply = await this.#scripts.run(
      useChainScript,
      [keys.uses(shard, correlationId), once, keys.outbox(shard), keys.committed(shard)],
      [
        attempt,
        proof === undefined ? answerLifetimeMs : milliseconds(proof.forSeconds),
        limit.uses,
        milliseconds(limit.seconds),
        ...listOf(eventTexts(this.#writeEvent, events, correlationId)),
      ],
    );
    return readChainUse(reply);
  };

  revokeChain: Tickets['revokeChain'] = async (
    correlationId,
    { forSeconds, events, owner = '', claim = correlationId },
  ) => {
    const shard = shardOfText(claim);
    const { chain, chainRecord, outbox, committed } = this.#keys;
    const reply = await this.#scripts.run(
      revokeChainScript,
      [chain(shard, correlationId), chainRecord(shard, correlationId), outbox(shard), committed(shard)],
      [milliseconds(forSeconds), owner, ...listOf(eventTexts(this.#writeEvent, events, correlationId))],
    );
    return reply === 'revoked';
  };

  isChainRevoked: Tickets['isChainRevoked'] = async (correlationId) => {
    const chain = this.#keys.chain(shardOfText(correlationId), correlationId);
    return (await this.#scripts.run(isChainRevokedScript, [chain], [])) === 1;
  };

  findChainOf: Tickets['findChainOf'] = async (kind, ticket) => {
    const chain = readChain(ticket);
    if (chain === undefined) return undefined;
    const { shard } = chain;
    const keys = [this.#keys.ticket(shard, kind, ticket), this.#keys.used(shard, kind, ticket)];
    const reply = await this.#scripts.run(findChainOfScript, keys, []);
    return typeof reply === 'string' ? reply : undefined;
  };

  findChainRecord: Tickets['findChainRecord'] = async (correlationId) => {
    const key = this.#keys.chainRecord(shardOfText(correlationId), correlationId);
    const [owner, audience] = textsOf(await this.#scripts.run(findChainRecordScript, [key], []));
    return owner === undefined || audience === undefined ? undefined : { owner, audience };
  };

  findChains: Tickets['findChains'] = async (selection) => {
    assertLabelled(selection);
    const { owner, labels } = selection;
    const { chain, labelled } = this.#keys;
    const replies = await Promise.all(
      shards.map((shard) => {
        const ofLabels = labels.map((label) => labelled(shard, { owner, label }));
        return this.#scripts.run(findChainsScript, [chain(shard), ...ofLabels], []);
      }),
    );
    return replies.flatMap((reply) => listIn(reply).map(String));
  };
}
