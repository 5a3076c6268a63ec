import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { EventWriter } from '@clinical-launch/crypto/event-macs';
import { assertRecordable } from './chain-record.ts';
import {
  challengeFields,
  claimArguments,
  detailFields,
  eventTexts,
  noticeArguments,
  proofArguments,
  revocationArguments,
  successorArguments,
} from './redis-arguments.ts';
import {
  type ClaimKeys,
  createKeys,
  defaultPrefix,
  drawAttempt,
  type Keys,
  rememberMs,
} from './redis-keys.ts';
import { readBesideIssue, readChainUse, readIssue, readRedemption, textsOf } from './redis-replies.ts';
import {
  listOf,
  milliseconds,
  millisecondsOrNone,
  type RedisClient,
  RedisScripts,
  readScript,
} from './redis-scripts.ts';
import { assertRepeatable } from './repetition.ts';
import { type SealLogger, type TicketSealers, TicketSeals } from './ticket-seals.ts';
import { beginChain, nameTicket, readChain, type Shard, shardOfText } from './ticket-text.ts';
import {
  type BesideIssue,
  type BesideRequest,
  type ChainRecord,
  type ChainRevocation,
  type ChainUse,
  type ChainUseOutcome,
  type FoundTicket,
  type Issue,
  type IssueRequest,
  type RedeemRequest,
  type Redemption,
  type TicketKind,
  type Tickets,
  usedUntilChainEnds,
} from './tickets.ts';

const issueScript = readScript('shared', 'ends', 'claims', 'issue');
const issueBesideScript = readScript('shared', 'chains', 'ends', 'proofs', 'issue-beside');
const redeemScript = readScript('shared', 'chains', 'ends', 'proofs', 'redeem');
const findScript = readScript('chains', 'ends', 'find');
const claimScript = readScript('shared', 'claim');
const useChainScript = readScript('shared', 'proofs', 'use-chain');
const revokeChainScript = readScript('shared', 'chains', 'revoke-chain');
const findChainOfScript = readScript('find-chain-of');
const findChainRecordScript = readScript('find-chain-record');
const isChainRevokedScript = readScript('is-chain-revoked');

export type RedisTicketsDependencies = {
  readonly redis: RedisClient;
  readonly sealers: TicketSealers;
  /** Receives an error when a stored record was not sealed for its ticket. */
  readonly logger?: SealLogger;
  /** The prefix of every key; the outbox of these tickets uses the same. */
  readonly prefix?: string;
  /** Seconds that a replay is answered `used` instead of `unknown`. */
  readonly usedMarkerSeconds?: number;
  /**
   * Seconds after a promotion or a restart in which an older ticket is refused: the lifetime of a launch
   * token.
   */
  readonly failoverGuardSeconds?: number;
  /** Issues a ticket with a claim only while the claims are complete (`RedisClaims`). */
  readonly requiresCompleteClaims?: boolean;
  /** Signs the events for the services that consume them; without it, they are stored unsigned. */
  readonly writeEvent?: EventWriter;
};

/**
 * Tickets shared by all replicas of all services. Each operation is one script and one round trip, so it
 * keeps the guarantees of `Tickets` whatever fails; time is Redis's own. A request whose reply was lost is
 * repeated once and gets the answer of its first attempt. Redis stores hashes of the tickets and the
 * encrypted context and detail, which only a holder of a ticket of that chain can open. A moved or changed
 * record makes its ticket `unknown`.
 * @throws TicketsUnavailable from every operation when Redis does not answer or has just lost its history
 */
export class RedisTickets implements Tickets {
  readonly #scripts: RedisScripts;
  readonly #seals: TicketSeals;
  readonly #keys: Keys;
  readonly #usedMarkerMs: number;
  readonly #guardMs: number;
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
    this.#keys = createKeys(prefix);
    this.#usedMarkerMs = milliseconds(usedMarkerSeconds);
    this.#guardMs = milliseconds(failoverGuardSeconds);
    this.#requiresCompleteClaims = requiresCompleteClaims;
    this.#writeEvent = writeEvent;
  }

  async issue(kind: TicketKind, request: IssueRequest): Promise<Issue> {
    assertRecordable(request);
    const { context, detail, challenge, notice, claim, correlationId, ttlSeconds, chainSeconds, events } =
      request;
    const shard = shardOfText(claim?.name ?? correlationId);
    const chain = beginChain(correlationId, shard);
    const ticket = nameTicket(chain);
    const keys = this.#keys;
    const claimed = claim === undefined ? undefined : keys.claim(shard, claim.name);
    const reply = await this.#scripts.run(
      issueScript,
      [
        keys.ticket(shard, kind, ticket),
        keys.notice(shard, kind, ticket),
        keys.chainRecord(shard, correlationId),
        ...keys.common(shard, kind),
        ...(claimed === undefined ? [] : this.#claimKeys(shard, claimed)),
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
          ...detailFields(this.#seals, { kind, text: ticket }, detail),
          ...challengeFields(challenge),
        ]),
        ...noticeArguments(this.#seals, { kind, text: ticket }, notice),
        ...claimArguments(claim, claimed),
        ...listOf(Object.entries(request.chainRecord ?? {}).flat()),
        ...listOf(eventTexts(this.#writeEvent, events)),
      ],
    );
    return readIssue(reply, ticket);
  }

  async issueBeside(kind: TicketKind, request: BesideRequest): Promise<BesideIssue> {
    const { live, context, challenge, ttlSeconds, limit, proof } = request;
    const beside = readChain(live.ticket);
    if (beside === undefined) return { outcome: 'unknown' };
    const { shard, correlationId } = beside;
    const chain = beginChain(correlationId, shard);
    const ticket = nameTicket(chain);
    const keys = this.#keys;
    const reply = await this.#scripts.run(
      issueBesideScript,
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
    return readBesideIssue(reply, { ticket, correlationId });
  }

  async redeem(kind: TicketKind, ticket: string, request: RedeemRequest): Promise<Redemption> {
    assertRepeatable(request);
    const chain = readChain(ticket);
    if (chain === undefined) return { outcome: 'unknown' };
    const { shard, correlationId } = chain;
    const presented = { kind, text: ticket, chain };
    const { proofs = [], proof, limit, successor, repeatableSeconds, events } = request;
    const attempt = drawAttempt();
    const next = successor === undefined ? undefined : this.#seals.nameSuccessor(successor, presented);
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
        rememberMs,
        this.#usedMarkerMs,
        usedUntilChainEnds.has(kind) ? '1' : '',
        ...listOf(proofs),
        ...successorArguments(this.#seals, successor, next),
        ...listOf(eventTexts(this.#writeEvent, events, correlationId)),
        millisecondsOrNone(repeatableSeconds),
        repeatableSeconds === undefined ? '' : this.#seals.currentKeyId(successor?.kind ?? kind),
        ...proofArguments(proof, attempt),
        limit?.redemptions ?? '',
        ...revocationArguments(request, correlationId, this.#writeEvent),
      ],
    );
    return readRedemption(reply, { seals: this.#seals, presented }, (derivedBy) =>
      // A repetition gets the successor that was derived first, even if the keys have been rotated since.
      successor === undefined || derivedBy === undefined
        ? next
        : this.#seals.nameSuccessor(successor, presented, derivedBy),
    );
  }

  async find(
    kind: TicketKind,
    ticket: string,
    { extendSeconds }: { extendSeconds?: number } = {},
  ): Promise<FoundTicket | undefined> {
    const chain = readChain(ticket);
    if (chain === undefined) return undefined;
    const keys = [this.#keys.ticket(chain.shard, kind, ticket), this.#keys.chain(chain.shard)];
    const reply = await this.#scripts.run(findScript, keys, [millisecondsOrNone(extendSeconds)]);
    const [correlationId, context, detail, endsInMs] = textsOf(reply);
    if (correlationId === undefined) return undefined;
    return this.#seals.open({ kind, text: ticket, chain }, { correlationId, context, detail, endsInMs });
  }

  async claim(
    name: string,
    { forSeconds, events }: { forSeconds: number; events: readonly CloudEvent[] },
  ): Promise<boolean> {
    const shard = shardOfText(name);
    const { presented, outbox, committed } = this.#keys;
    const reply = await this.#scripts.run(
      claimScript,
      [presented(shard, name), outbox(shard), committed(shard)],
      [drawAttempt(), milliseconds(forSeconds), ...listOf(eventTexts(this.#writeEvent, events))],
    );
    return reply === 'claimed';
  }

  async useChain(correlationId: string, { proof, limit, events }: ChainUse): Promise<ChainUseOutcome> {
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
        proof === undefined ? rememberMs : milliseconds(proof.forSeconds),
        limit.uses,
        milliseconds(limit.seconds),
        ...listOf(eventTexts(this.#writeEvent, events, correlationId)),
      ],
    );
    return readChainUse(reply);
  }

  async revokeChain(
    correlationId: string,
    { forSeconds, events, owner = '' }: ChainRevocation,
  ): Promise<boolean> {
    const shard = shardOfText(correlationId);
    const { chain, chainRecord, outbox, committed } = this.#keys;
    const reply = await this.#scripts.run(
      revokeChainScript,
      [chain(shard, correlationId), chainRecord(shard, correlationId), outbox(shard), committed(shard)],
      [milliseconds(forSeconds), owner, ...listOf(eventTexts(this.#writeEvent, events, correlationId))],
    );
    return reply === 'revoked';
  }

  async isChainRevoked(correlationId: string): Promise<boolean> {
    const chain = this.#keys.chain(shardOfText(correlationId), correlationId);
    return (await this.#scripts.run(isChainRevokedScript, [chain], [])) === 1;
  }

  async findChainOf(kind: TicketKind, ticket: string): Promise<string | undefined> {
    const chain = readChain(ticket);
    if (chain === undefined) return undefined;
    const { shard } = chain;
    const keys = [this.#keys.ticket(shard, kind, ticket), this.#keys.used(shard, kind, ticket)];
    const reply = await this.#scripts.run(findChainOfScript, keys, []);
    return typeof reply === 'string' ? reply : undefined;
  }

  async findChainRecord(correlationId: string): Promise<ChainRecord | undefined> {
    const key = this.#keys.chainRecord(shardOfText(correlationId), correlationId);
    const [owner, audience] = textsOf(await this.#scripts.run(findChainRecordScript, [key], []));
    return owner === undefined || audience === undefined ? undefined : { owner, audience };
  }

  #claimKeys(shard: Shard, { claims }: ClaimKeys): string[] {
    return [claims, ...(this.#requiresCompleteClaims ? [this.#keys.claimsComplete(shard)] : [])];
  }
}
