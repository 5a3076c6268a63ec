import { assertCloudEvent, type CloudEvent, type Sealer } from '@clinical-launch/contracts';
import {
  createKeys,
  defaultPrefix,
  drawAttempt,
  type Keys,
  nameTicket,
  rememberMs,
  shardOfText,
  shardOfTicket,
} from './redis-keys.ts';
import { listOf, type RedisClient, RedisScripts, readScript } from './redis-scripts.ts';
import { assertRepeatable } from './repetition.ts';
import {
  type FoundTicket,
  type Issue,
  type IssueRequest,
  type RedeemRequest,
  type Redemption,
  type Successor,
  type TicketKind,
  type Tickets,
  TicketsUnavailable,
} from './tickets.ts';

const issueScript = readScript('shared', 'issue');
const redeemScript = readScript('shared', 'chains', 'redeem');
const findScript = readScript('chains', 'find');
const revokeChainScript = readScript('shared', 'chains', 'revoke-chain');
const isChainRevokedScript = readScript('is-chain-revoked');

export type RedisTicketsBacking = {
  readonly redis: RedisClient;
  readonly sealer: Sealer;
  /** In front of every key; the outbox of these tickets has the same. */
  readonly prefix?: string;
  /** How long a replay is told `used` rather than `unknown`. */
  readonly usedMarkerSeconds?: number;
  /** After a promotion or a restart, how long a ticket of the time before is not redeemed: a launch token's life. */
  readonly failoverGuardSeconds?: number;
};

/**
 * Tickets shared by all replicas of all services. Each operation is one script and one round trip, so what `Tickets`
 * promises holds whatever fails; time is Redis's own. A request whose reply was lost is repeated once and gets the
 * answer of its first attempt. Redis sees hashes of the tickets and ciphertext of context and detail.
 * @throws TicketsUnavailable from every operation when Redis does not answer or has just lost its history.
 */
export class RedisTickets implements Tickets {
  readonly #scripts: RedisScripts;
  readonly #sealer: Sealer;
  readonly #keys: Keys;
  readonly #usedMarkerMs: number;
  readonly #guardMs: number;

  constructor({
    redis,
    sealer,
    prefix = defaultPrefix,
    usedMarkerSeconds = 86_400,
    failoverGuardSeconds = 10,
  }: RedisTicketsBacking) {
    this.#scripts = new RedisScripts(redis);
    this.#sealer = sealer;
    this.#keys = createKeys(prefix);
    this.#usedMarkerMs = milliseconds(usedMarkerSeconds);
    this.#guardMs = milliseconds(failoverGuardSeconds);
  }

  async issue(kind: TicketKind, request: IssueRequest): Promise<Issue> {
    const { context, detail, challenge, claim, correlationId, ttlSeconds, events } = request;
    const shard = shardOfText(claim?.name ?? correlationId);
    const ticket = nameTicket(shard);
    const keys = this.#keys;
    const reply = await this.#scripts.run(
      issueScript,
      [
        keys.ticket(shard, kind, ticket),
        ...keys.common(shard),
        ...(claim === undefined ? [] : [keys.claim(shard, claim.name)]),
      ],
      [
        this.#guardMs,
        milliseconds(ttlSeconds),
        ...listOf([
          'correlationid',
          correlationId,
          'context',
          this.#sealer.seal(contextPurpose, context),
          ...this.#detailFields(detail),
          ...challengeFields(challenge),
        ]),
        claim?.holder ?? '',
        milliseconds(claim?.ttlSeconds ?? 0),
        ...listOf(claim?.joins ?? []),
        ...listOf(eventTexts(events)),
      ],
    );
    return reply === 'claimed' ? { outcome: 'claimed' } : { outcome: 'issued', ticket };
  }

  async redeem(kind: TicketKind, ticket: string, request: RedeemRequest): Promise<Redemption> {
    assertRepeatable(request);
    const shard = shardOfTicket(ticket);
    if (shard === undefined) return { outcome: 'unknown' };
    const { proofs = [], successor, repeatableSeconds, onReplay, events } = request;
    const next = successor === undefined ? undefined : this.#nameSuccessor(successor, ticket);
    const keys = this.#keys;
    const reply = await this.#scripts.run(
      redeemScript,
      [
        keys.ticket(shard, kind, ticket),
        keys.used(shard, kind, ticket),
        keys.answer(shard, drawAttempt()),
        keys.chain(shard),
        ...keys.common(shard),
        ...(successor === undefined || next === undefined ? [] : [keys.ticket(shard, successor.kind, next)]),
        ...(repeatableSeconds === undefined ? [] : [keys.repeatable(shard, kind, ticket)]),
      ],
      [
        this.#guardMs,
        this.#usedMarkerMs,
        rememberMs,
        ...listOf(proofs),
        milliseconds(successor?.ttlSeconds ?? 0),
        ...listOf([...this.#detailFields(successor?.detail), ...challengeFields(successor?.challenge)]),
        ...listOf(eventTexts(events)),
        ...(repeatableSeconds === undefined
          ? []
          : [milliseconds(repeatableSeconds), this.#sealer.currentKeyId]),
        ...(onReplay === undefined
          ? []
          : [milliseconds(onReplay.revokeForSeconds), ...listOf(eventTexts(onReplay.events))]),
      ],
    );
    return this.#readRedemption(reply, (derivedBy) =>
      // A repetition gets what was derived first, also when the keys have been rolled since.
      successor === undefined || derivedBy === undefined
        ? next
        : this.#nameSuccessor(successor, ticket, derivedBy),
    );
  }

  async find(
    kind: TicketKind,
    ticket: string,
    { extendSeconds }: { extendSeconds?: number } = {},
  ): Promise<FoundTicket | undefined> {
    const shard = shardOfTicket(ticket);
    if (shard === undefined) return undefined;
    const extendMs = extendSeconds === undefined ? '' : milliseconds(extendSeconds);
    const keys = [this.#keys.ticket(shard, kind, ticket), this.#keys.chain(shard)];
    const reply = await this.#scripts.run(findScript, keys, [extendMs]);
    const [correlationId, context, detail] = textsOf(reply);
    return correlationId === undefined ? undefined : this.#open(correlationId, context, detail);
  }

  async revokeChain(
    correlationId: string,
    { forSeconds, events }: { forSeconds: number; events: readonly CloudEvent[] },
  ): Promise<void> {
    const shard = shardOfText(correlationId);
    const { chain, outbox, committed } = this.#keys;
    await this.#scripts.run(
      revokeChainScript,
      [chain(shard, correlationId), outbox(shard), committed(shard)],
      [milliseconds(forSeconds), correlationId, ...listOf(eventTexts(events))],
    );
  }

  async isChainRevoked(correlationId: string): Promise<boolean> {
    const chain = this.#keys.chain(shardOfText(correlationId), correlationId);
    return (await this.#scripts.run(isChainRevokedScript, [chain], [])) === 1;
  }

  /** The successor's ticket: drawn, or computed from its predecessor under the current key or the one that is named. */
  #nameSuccessor({ kind, isDerived }: Successor, predecessor: string, keyId?: string): string {
    const shard = predecessor.slice(0, 2);
    if (!isDerived) return nameTicket(shard);
    return nameTicket(shard, this.#sealer.derive(successorPurpose, `${kind} ${predecessor}`, keyId));
  }

  #readRedemption(reply: unknown, successorBy: (keyId?: string) => string | undefined): Redemption {
    const [outcome, text = '', context, detail, derivedBy] = textsOf(reply);
    switch (outcome) {
      case 'redeemed':
      case 'repeated': {
        const successor = successorBy(derivedBy);
        return {
          outcome,
          ...this.#open(text, context, detail),
          ...(successor === undefined ? {} : { successor }),
        };
      }
      case 'used':
      case 'mismatch':
        return { outcome, correlationId: text };
      case 'unknown':
        return { outcome };
      case 'guarded':
        throw new TicketsUnavailable('Redis has restarted or failed over; older tickets have to wait', {
          retryAfterSeconds: Math.ceil(Number(text) / 1000),
        });
      default:
        throw new Error(`The redemption script answered ${String(outcome)}`);
    }
  }

  #detailFields(detail: unknown): string[] {
    return detail === undefined ? [] : ['detail', this.#sealer.seal(detailPurpose, detail)];
  }

  #open(correlationId: string, context: string | undefined, detail: string | undefined): FoundTicket {
    return {
      context: this.#sealer.open(contextPurpose, context ?? ''),
      detail: detail === undefined ? undefined : this.#sealer.open(detailPurpose, detail),
      correlationId,
    };
  }
}

const contextPurpose = 'ticket-context';
const detailPurpose = 'ticket-detail';
const successorPurpose = 'ticket-successor';

const challengeFields = (challenge: string | undefined): string[] =>
  challenge === undefined ? [] : ['challenge', challenge];

/** Redis takes no expiry below one. */
const milliseconds = (seconds: number): number => Math.max(1, Math.round(seconds * 1000));

/** @throws TypeError for one that the bus would not take: it must not enter the outbox. */
export function eventTexts(events: readonly CloudEvent[]): string[] {
  for (const event of events) assertCloudEvent(event);
  return events.map((event) => JSON.stringify(event));
}

function textsOf(reply: unknown): readonly (string | undefined)[] {
  if (!Array.isArray(reply)) throw new Error('A script answered no list');
  return reply.map((item: unknown) => (typeof item === 'string' ? item : undefined));
}
