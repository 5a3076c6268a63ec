import { withoutUndefined } from '@clinical-launch/contracts/schema';
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
  RedisScripts,
  RedisUnavailable,
  shardOfText,
} from '@clinical-launch/redis/redis-scripts';
import {
  challengeFields,
  claimArguments,
  detailFields,
  noticeArguments,
  proofArguments,
  repetitionArguments,
  revocationArguments,
  successorArguments,
} from './redis-arguments.ts';
import type { RedisChainsDependencies } from './redis-chains.ts';
import {
  assertRecordable,
  assertRepeatable,
  beginChain,
  chainEnd,
  nameTicket,
  type PresentedTicket,
  readChain,
  type SealLogger,
  type TicketSealers,
  TicketSeals,
} from './ticket-format.ts';
import { createTicketKeys, type TicketKeys } from './ticket-keys.ts';
import { type Redemption, type Tickets, usedUntilChainEnds } from './tickets.ts';

const readScript = createScriptReader(import.meta.url);
export const issueScript = readScript('shared', 'guard', 'ends', 'claims', 'labels', 'issue');
const issueAdditionalScript = readScript('shared', 'guard', 'chains', 'ends', 'proofs', 'issue-additional');
export const redeemScript = readScript('shared', 'guard', 'chains', 'ends', 'proofs', 'redeem');
const findScript = readScript('shared', 'chains', 'ends', 'find');

export type RedisTicketsDependencies = RedisChainsDependencies & {
  readonly sealers: TicketSealers;
  /** Logs an error when a stored record was not sealed for its ticket. */
  readonly logger?: SealLogger;
  /** The seconds for which a replay is answered `used` instead of `unknown`. */
  readonly usedMarkerSeconds?: number;
  /**
   * The seconds after a promotion or a restart of Redis during which older tickets are refused. By default,
   * the lifetime of a launch token.
   */
  readonly failoverGuardSeconds?: number;
  /** Whether a ticket with a claim is issued only while the claims are complete (`RedisClaims`). */
  readonly requiresCompleteClaims?: boolean;
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
  readonly #guardMs: number;
  readonly #usedMarkerMs: number;
  readonly #requiresCompleteClaims: boolean;
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
    this.#guardMs = milliseconds(failoverGuardSeconds);
    this.#usedMarkerMs = milliseconds(usedMarkerSeconds);
    this.#requiresCompleteClaims = requiresCompleteClaims;
    this.#writeEvent = writeEvent;
  }

  issue: Tickets['issue'] = async (kind, request) => {
    assertRecordable(request);
    const { context, detail, challenge, notice, claim, correlationId } = request;
    const { ttlSeconds, chainSeconds, chainRecord, chainLabels = [], events } = request;
    const shard = shardOfText(claim?.name ?? correlationId);
    const chain = beginChain(correlationId, shard);
    const text = nameTicket(chain);
    const keys = this.#keys;
    const claimed = claim && keys.claim(shard, claim.name);
    const reply = await this.#scripts.run(
      issueScript,
      [
        keys.ticket(shard, kind, text),
        keys.notice(shard, kind, text),
        keys.chainRecord(shard, correlationId),
        ...keys.common(shard, kind),
        ...(claimed === undefined ? [] : [claimed.claims]),
        ...(claimed === undefined || !this.#requiresCompleteClaims ? [] : [keys.claimsComplete(shard)]),
        ...chainLabels.map((label) => keys.labelled(shard, { owner: chainRecord?.owner ?? '', label })),
      ],
      [
        this.#guardMs,
        milliseconds(ttlSeconds),
        millisecondsOrNone(chainSeconds),
        ...listOf([
          'correlationid',
          correlationId,
          'context',
          this.#seals.sealContext({ kind, chain }, context),
          ...detailFields(this.#seals, { kind, text }, detail),
          ...challengeFields(challenge),
        ]),
        ...noticeArguments(this.#seals, { kind, text }, notice),
        ...claimArguments(claim, claimed),
        ...listOf(Object.entries(chainRecord ?? {}).flat()),
        ...listOf(eventTexts(this.#writeEvent, events)),
        ...(request.chainLabels === undefined ? [] : [correlationId]),
      ],
    );
    if (reply === 'incomplete')
      throw new RedisUnavailable('Redis lost its data. Identifiers are being restored. Try again', {
        retryAfterSeconds: 2,
      });
    return reply === 'claimed' ? { outcome: 'claimed' } : { outcome: 'issued', ticket: text };
  };

  issueAdditional: Tickets['issueAdditional'] = async (kind, request) => {
    const { live, context, challenge, ttlSeconds, limit, proof } = request;
    const { shard, correlationId } = readChain(live.ticket) ?? {};
    if (shard === undefined || correlationId === undefined) return { outcome: 'unknown' };
    const chain = beginChain(correlationId, shard);
    const ticket = nameTicket(chain);
    const keys = this.#keys;
    const reply = await this.#scripts.run(
      issueAdditionalScript,
      [
        keys.ticket(shard, live.kind, live.ticket),
        keys.chain(shard),
        keys.ticket(shard, kind, ticket),
        ...keys.guard(shard, kind),
        ...(proof === undefined ? [] : [keys.proof(shard, correlationId, proof.name)]),
      ],
      [
        this.#guardMs,
        milliseconds(ttlSeconds),
        ...listOf(live.proofs),
        limit.tickets,
        milliseconds(limit.seconds),
        ...listOf([
          'correlationid',
          correlationId,
          'context',
          this.#seals.sealContext({ kind, chain }, context),
          ...challengeFields(challenge),
        ]),
        ...proofArguments(proof, drawAttempt()),
      ],
    );
    const [outcome, waitMs] = textsOf(reply);
    switch (outcome) {
      case 'issued':
        return { outcome, ticket, correlationId };
      case 'limited':
        return { outcome, waitSeconds: Number(waitMs) / 1000, correlationId };
      case 'unknown':
      case 'mismatch':
      case 'used-proof':
        return { outcome };
      default:
        throw new Error(`The script returned the unknown outcome ${String(outcome)}`);
    }
  };

  redeem: Tickets['redeem'] = async (kind, ticket, request) => {
    assertRepeatable(request);
    const chain = readChain(ticket);
    if (chain === undefined) return { outcome: 'unknown' };
    const presented = { kind, text: ticket, chain };
    const { shard, correlationId } = chain;
    const { proofs = [], proof, limit, successor, repeatableSeconds, events } = request;
    const next = successor && this.#seals.nameSuccessor(successor, presented);
    const attempt = drawAttempt();
    const keys = this.#keys;
    const reply = await this.#scripts.run(
      redeemScript,
      [
        keys.ticket(shard, kind, ticket),
        keys.notice(shard, kind, ticket),
        keys.used(shard, kind, ticket),
        keys.answer(shard, kind, attempt),
        keys.chain(shard),
        ...keys.common(shard, kind),
        ...(successor === undefined || next === undefined ? [] : [keys.ticket(shard, successor.kind, next)]),
        ...(repeatableSeconds === undefined ? [] : [keys.repeatable(shard, kind, ticket)]),
        ...(proof === undefined ? [] : [keys.proof(shard, correlationId, proof.name)]),
        ...(limit === undefined ? [] : [keys.redemptions(shard, kind, correlationId)]),
      ],
      [
        this.#guardMs,
        answerLifetimeMs,
        this.#usedMarkerMs,
        usedUntilChainEnds.has(kind) ? '1' : '',
        ...listOf(proofs),
        ...successorArguments(this.#seals, successor, next),
        ...listOf(eventTexts(this.#writeEvent, events, correlationId)),
        ...repetitionArguments(this.#seals, kind, request),
        ...proofArguments(proof, attempt),
        limit?.redemptions ?? '',
        ...revocationArguments(request, correlationId, this.#writeEvent),
      ],
    );
    return this.#readRedemption(reply, presented, (derivedBy) =>
      successor && derivedBy ? this.#seals.nameAgain(successor, presented, derivedBy) : next,
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

  /**
   * Reads the reply of redeem.lua, and opens the content of the ticket.
   * @param successorBy returns the successor that was derived with the keys that have the given ids, one
   * after the other
   */
  #readRedemption(
    reply: unknown,
    presented: PresentedTicket,
    successorBy: (keyIds?: string) => string | undefined,
  ): Redemption {
    const { correlationId } = presented.chain;
    const [outcome, text = '', endsInMs, context, detail, derivedBy] = textsOf(reply);
    switch (outcome) {
      case 'redeemed':
      case 'repeated': {
        const opened = this.#seals.open(presented, { correlationId: text, context, detail, endsInMs });
        if (opened === undefined) return { outcome: 'unknown' };
        return { outcome, ...opened, ...withoutUndefined({ successor: successorBy(derivedBy) }) };
      }
      case 'used':
      case 'mismatch':
        return { outcome, correlationId, ...this.#seals.openNotice(presented, text) };
      case 'unknown':
        return { outcome, ...this.#seals.openNotice(presented, text) };
      case 'used-proof':
        return { outcome };
      case 'exhausted':
        return { outcome, correlationId, ...chainEnd(endsInMs) };
      case 'guarded':
        throw new RedisUnavailable(
          'Redis has restarted or failed over. Older tickets are not accepted yet. Try again',
          { retryAfterSeconds: Math.ceil(Number(text) / 1000) },
        );
      default:
        throw new Error(`The script returned the unknown outcome ${String(outcome)}`);
    }
  }
}

/** Returns the items of a list, with undefined in place of items that are not text. */
const textsOf = (reply: unknown): readonly (string | undefined)[] =>
  listIn(reply).map((item) => (typeof item === 'string' ? item : undefined));
