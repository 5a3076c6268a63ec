import { randomBytes } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { shardOfText } from '@clinical-launch/redis/redis-scripts';
import type { HeldClaim } from './claims.ts';
import {
  ChainBounds,
  type Content,
  ExpiringMap,
  exhausted,
  found,
  isProven,
  keyOf,
  nameSuccessor,
  secondsUntilEnd,
} from './in-memory-store.ts';
import {
  assertLabelled,
  assertRecordable,
  assertRepeatable,
  beginChain,
  type Chain,
  nameTicket,
  readChain,
} from './ticket-format.ts';
import {
  type ChainRecord,
  type IssueRequest,
  type RedeemRequest,
  type Redemption,
  type Successor,
  type TicketKind,
  type Tickets,
  usedUntilChainEnds,
} from './tickets.ts';

/** A clock in milliseconds, and an outbox that stores events in the same turn of the event loop. */
export type InMemoryTicketsDependencies = {
  readonly clock: { now(): number };
  readonly outbox: { append(events: readonly CloudEvent[]): Promise<void> };
  /** The seconds for which a replay is answered `used` instead of `unknown`. */
  readonly usedMarkerSeconds?: number;
};

/**
 * Tickets of one process. Keeps the guarantees of `Tickets`, because every operation completes within one
 * turn of the event loop. Stores nothing across a restart and shares nothing with another process.
 */
export class InMemoryTickets implements Tickets {
  readonly #clock: InMemoryTicketsDependencies['clock'];
  readonly #outbox: InMemoryTicketsDependencies['outbox'];
  readonly #usedMarkerSeconds: number;
  readonly #derivationKey = randomBytes(32);
  readonly #live: ExpiringMap<Content>;
  /** The content of each notice, as JSON. */
  readonly #notices: ExpiringMap<string>;
  readonly #used: ExpiringMap<string>;
  /** The result of each redemption, while the redemption may be repeated. */
  readonly #repeatable: ExpiringMap<Content>;
  readonly #revoked: ExpiringMap<true>;
  readonly #bounds: ChainBounds;
  readonly #records: ExpiringMap<ChainRecord & { readonly labels: readonly string[] }>;
  readonly #claims: ExpiringMap<string>;

  constructor({ clock, outbox, usedMarkerSeconds = 86_400 }: InMemoryTicketsDependencies) {
    this.#clock = clock;
    this.#outbox = outbox;
    this.#usedMarkerSeconds = usedMarkerSeconds;
    this.#live = new ExpiringMap(clock);
    this.#notices = new ExpiringMap(clock);
    this.#used = new ExpiringMap(clock);
    this.#repeatable = new ExpiringMap(clock);
    this.#revoked = new ExpiringMap(clock);
    this.#bounds = new ChainBounds(clock);
    this.#records = new ExpiringMap(clock);
    this.#claims = new ExpiringMap(clock);
  }

  issue: Tickets['issue'] = async (kind, request) => {
    assertRecordable(request);
    const { context, detail, challenge, notice, correlationId, claim } = request;
    const { ttlSeconds, chainSeconds, events } = request;
    const ticket = nameTicket(beginChain(correlationId, shardOfText(claim?.name ?? correlationId)));
    if (!this.#claim(claim)) return { outcome: 'claimed' };
    const content = {
      context: JSON.stringify(context),
      detail: JSON.stringify(detail),
      challenge,
      correlationId,
      endsAt: this.#endAfter(chainSeconds),
    };
    const key = keyOf(kind, ticket);
    this.#store(key, content, ttlSeconds);
    if (notice !== undefined) this.#notices.set(key, JSON.stringify(notice.content), notice.ttlSeconds);
    if (request.chainRecord !== undefined && chainSeconds !== undefined) {
      const record = { ...request.chainRecord, labels: request.chainLabels ?? [] };
      this.#records.set(correlationId, record, chainSeconds);
    }
    await this.#outbox.append(events);
    return { outcome: 'issued', ticket };
  };

  issueAdditional: Tickets['issueAdditional'] = async (kind, request) => {
    const { live, context, challenge, ttlSeconds, limit, proof } = request;
    const chain = readChain(live.ticket);
    const stored = this.#live.get(keyOf(live.kind, live.ticket));
    if (chain !== undefined && this.#bounds.isUsed(chain.correlationId, proof))
      return { outcome: 'used-proof' };
    if (chain === undefined || stored === undefined || this.#revoked.has(stored.correlationId))
      return { outcome: 'unknown' };
    if (!isProven(stored, live)) return { outcome: 'mismatch' };
    const { correlationId, endsAt, additional } = stored;
    const now = this.#clock.now();
    const issuedAt = (additional?.issuedAt ?? []).filter((time) => time > now - limit.seconds * 1000);
    const [oldest = now] = issuedAt;
    if (issuedAt.length >= limit.tickets)
      return { outcome: 'limited', waitSeconds: (oldest - now) / 1000 + limit.seconds, correlationId };
    const ticket = nameTicket(beginChain(correlationId, chain.shard));
    const key = keyOf(kind, ticket);
    if (additional !== undefined) this.#live.delete(additional.key);
    this.#bounds.useProof(correlationId, proof);
    stored.additional = { key, issuedAt: [...issuedAt, now] };
    const text = JSON.stringify(context);
    this.#store(key, { context: text, detail: undefined, challenge, correlationId, endsAt }, ttlSeconds);
    return { outcome: 'issued', ticket, correlationId };
  };

  redeem: Tickets['redeem'] = async (kind, ticket, request) => {
    assertRepeatable(request);
    const chain = readChain(ticket);
    if (chain === undefined) return { outcome: 'unknown' };
    if (this.#bounds.isUsed(chain.correlationId, request.proof)) return { outcome: 'used-proof' };
    const key = keyOf(kind, ticket);
    const usedBy = this.#used.get(key);
    if (usedBy !== undefined) return await this.#redeemUsed({ kind, key, ticket, chain }, request, usedBy);

    const stored = this.#live.get(key);
    if (stored === undefined || this.#revoked.has(stored.correlationId))
      return { outcome: 'unknown', ...this.#noticeOf(key) };
    const { correlationId } = stored;
    if (!isProven(stored, request)) {
      await this.#countMismatch(key, stored, request);
      return { outcome: 'mismatch', correlationId, ...this.#noticeOf(key) };
    }

    if (this.#bounds.isExhausted(kind, correlationId, request))
      return exhausted(found(stored, this.#clock.now()));
    const { successor, repeatableSeconds, events } = request;
    const content = Number.isFinite(stored.endsAt)
      ? stored
      : { ...stored, endsAt: this.#endAfter(successor?.chainSeconds) };
    const endsInSeconds = secondsUntilEnd(content, this.#clock.now());
    const endsWithChain = usedUntilChainEnds.has(kind) && Number.isFinite(endsInSeconds);
    this.#used.set(key, correlationId, endsWithChain ? endsInSeconds : this.#usedMarkerSeconds);
    this.#live.delete(key);
    this.#bounds.countRedemption(kind, { correlationId, endsInSeconds }, request);
    if (repeatableSeconds !== undefined)
      this.#repeatable.set(
        key,
        { ...content, redeemedAt: this.#clock.now() },
        this.#within(content, repeatableSeconds),
      );
    const next = nameSuccessor(successor, { ticket, chain }, this.#derivationKey);
    if (next !== undefined) this.#issueSuccessor(next, content);
    await this.#append(events, correlationId);
    return {
      outcome: 'redeemed',
      ...found(content, this.#clock.now()),
      ...(next && { successor: next.ticket }),
    };
  };

  find: Tickets['find'] = async (kind, ticket, { extendSeconds } = {}) => {
    const key = keyOf(kind, ticket);
    const content = this.#live.get(key);
    if (content === undefined || this.#revoked.has(content.correlationId)) return undefined;
    if (extendSeconds !== undefined) this.#store(key, content, extendSeconds);
    return found(content, this.#clock.now());
  };

  claim: Tickets['claim'] = async (name, { forSeconds, events }) => {
    if (!this.#claim({ name, holder: '', ttlSeconds: forSeconds })) return false;
    await this.#outbox.append(events);
    return true;
  };

  useChain: Tickets['useChain'] = async (correlationId, use) => {
    const used = this.#bounds.use(correlationId, use);
    if (used.outcome === 'accepted') await this.#append(use.events, correlationId);
    return used;
  };

  revokeChain: Tickets['revokeChain'] = async (correlationId, { forSeconds, events, owner }) => {
    if (owner !== undefined && this.#records.get(correlationId)?.owner !== owner) return false;
    const wasRevoked = this.#revoked.has(correlationId);
    this.#revoked.prolong(correlationId, true, forSeconds);
    if (!wasRevoked) await this.#append(events, correlationId);
    return true;
  };

  isChainRevoked: Tickets['isChainRevoked'] = async (correlationId) => {
    return this.#revoked.has(correlationId);
  };

  findChainOf: Tickets['findChainOf'] = async (kind, ticket) => {
    const key = keyOf(kind, ticket);
    return this.#live.get(key)?.correlationId ?? this.#used.get(key);
  };

  findChainRecord: Tickets['findChainRecord'] = async (correlationId) => {
    const record = this.#records.get(correlationId);
    return record && { owner: record.owner, audience: record.audience };
  };

  findChains: Tickets['findChains'] = async (selection) => {
    assertLabelled(selection);
    const { owner, labels } = selection;
    return [...this.#records.entries()].flatMap(([id, record]) => {
      const isOwned = record.owner === owner && !this.#revoked.has(id);
      return isOwned && labels.every((label) => record.labels.includes(label)) ? [id] : [];
    });
  };

  /** Restores recorded claims, except claims that are already held or have expired. */
  hold(claims: readonly HeldClaim[]): void {
    for (const { name, holder, expiresAt } of claims) {
      const ttlSeconds = (expiresAt - this.#clock.now()) / 1000;
      if (ttlSeconds > 0 && !this.#claims.has(name)) this.#claims.set(name, holder, ttlSeconds);
    }
  }

  async #countMismatch(key: string, content: Content, { onMismatch }: RedeemRequest): Promise<void> {
    if (onMismatch === undefined) return;
    content.mismatches = (content.mismatches ?? 0) + 1;
    if (content.mismatches < onMismatch.limit) return;
    const { correlationId } = content;
    this.#used.set(key, correlationId, this.#usedMarkerSeconds);
    this.#live.delete(key);
    const { revokeForSeconds: forSeconds, events } = onMismatch;
    await this.revokeChain(correlationId, { forSeconds, events });
  }

  async #redeemUsed(
    { kind, key, ticket, chain }: { kind: TicketKind; key: string; ticket: string; chain: Chain },
    request: RedeemRequest,
    correlationId: string,
  ): Promise<Redemption> {
    const { repeatableSeconds, onReplay } = request;
    const content = repeatableSeconds === undefined ? undefined : this.#repeatable.get(key);
    const isValid = content !== undefined && !this.#revoked.has(correlationId) && isProven(content, request);
    const next = isValid ? this.#unusedSuccessor({ ticket, chain }, request) : undefined;
    if (content !== undefined && next !== undefined) {
      const opened = found(content, this.#clock.now());
      if (this.#bounds.isExhausted(kind, correlationId, request)) return exhausted(opened);
      const endsInSeconds = secondsUntilEnd(content, this.#clock.now());
      this.#bounds.countRedemption(kind, { correlationId, endsInSeconds }, request);
      return { outcome: 'repeated', ...opened, successor: next };
    }
    if (onReplay !== undefined) {
      const { revokeForSeconds: forSeconds, events } = onReplay;
      await this.revokeChain(correlationId, { forSeconds, events });
    }
    return { outcome: 'used', correlationId, ...this.#noticeOf(key) };
  }

  /** Returns the first unused successor, or undefined if the ticket's own successor was used too long ago. */
  #unusedSuccessor(
    used: { readonly ticket: string; readonly chain: Chain },
    request: RedeemRequest,
  ): string | undefined {
    const { repeatableSeconds = 0, repeatableAfterUseSeconds = repeatableSeconds } = request;
    const next = nameSuccessor(request.successor, used, this.#derivationKey);
    if (next === undefined) return undefined;
    const key = keyOf(next.kind, next.ticket);
    if (this.#live.has(key)) return next.ticket;
    const { redeemedAt = 0 } = this.#repeatable.get(key) ?? {};
    if (this.#clock.now() - redeemedAt >= repeatableAfterUseSeconds * 1000) return undefined;
    return this.#unusedSuccessor({ ...used, ticket: next.ticket }, request);
  }

  #issueSuccessor(successor: Successor & { ticket: string }, predecessor: Content): void {
    const { kind, ticket, detail, challenge, ttlSeconds } = successor;
    const { context, correlationId, endsAt } = predecessor;
    const content = { context, detail: JSON.stringify(detail), challenge, correlationId, endsAt };
    this.#store(keyOf(kind, ticket), content, ttlSeconds);
  }

  #endAfter(chainSeconds = Number.POSITIVE_INFINITY): number {
    return this.#clock.now() + chainSeconds * 1000;
  }

  #noticeOf(key: string): { notice?: unknown } {
    const notice = this.#notices.get(key);
    return notice === undefined ? {} : { notice: JSON.parse(notice) };
  }

  #store(key: string, content: Content, ttlSeconds: number): void {
    this.#live.set(key, content, this.#within(content, ttlSeconds));
  }

  /** Returns a lifetime in seconds, shortened so that it does not exceed the end of the chain. */
  #within(content: Content, seconds: number): number {
    return Math.min(seconds, secondsUntilEnd(content, this.#clock.now()));
  }

  #claim(claim: IssueRequest['claim']): boolean {
    if (claim === undefined) return true;
    const holder = this.#claims.get(claim.name);
    if (holder !== undefined) return claim.joins?.includes(holder) ?? false;
    this.#claims.set(claim.name, claim.holder, claim.ttlSeconds);
    return true;
  }

  async #append(events: readonly CloudEvent[], correlationId: string): Promise<void> {
    await this.#outbox.append(events.map((event) => ({ ...event, correlationid: correlationId })));
  }
}
