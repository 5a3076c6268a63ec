import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { shardOfText } from '@clinical-launch/redis/redis-scripts';
import type { Chains, Once } from './chains.ts';
import { type Claims, InMemoryClaims } from './claims.ts';
import { InMemoryChains, InMemoryOnce, keyOf } from './in-memory-chains.ts';
import { type Content, InMemoryStore, type InMemoryStoreDependencies } from './in-memory-store.ts';
import {
  assertRecordable,
  assertRepeatable,
  beginChain,
  type Chain,
  nameTicket,
  readChain,
} from './ticket-format.ts';
import {
  type FoundTicket,
  type IssueRequest,
  type RedeemRequest,
  type Redemption,
  type Successor,
  type TicketKind,
  type Tickets,
  usedUntilChainEnds,
} from './tickets.ts';

/** Creates tickets, chains, names that count once and claims, which share one store of this process. */
export function createInMemoryTickets(dependencies: InMemoryStoreDependencies): {
  readonly tickets: Tickets;
  readonly chains: Chains;
  readonly once: Once;
  readonly claims: Claims;
} {
  const store = new InMemoryStore(dependencies);
  return {
    tickets: new InMemoryTickets(store),
    chains: new InMemoryChains(store),
    once: new InMemoryOnce(store),
    claims: new InMemoryClaims(store),
  };
}

/**
 * Tickets of one process. Keeps the guarantees of `Tickets`, because every operation completes within one
 * turn of the event loop. Stores nothing across a restart and shares nothing with another process.
 */
class InMemoryTickets implements Tickets {
  readonly #store: InMemoryStore;
  readonly #chains: Chains;
  readonly #derivationKey = randomBytes(32);

  constructor(store: InMemoryStore) {
    this.#store = store;
    this.#chains = new InMemoryChains(store);
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
    this.#setLive(key, content, ttlSeconds);
    if (notice !== undefined) this.#store.notices.set(key, JSON.stringify(notice.content), notice.ttlSeconds);
    if (request.chainRecord !== undefined && chainSeconds !== undefined) {
      const record = { ...request.chainRecord, labels: request.chainLabels ?? [] };
      this.#store.records.set(correlationId, record, chainSeconds);
    }
    await this.#store.append(events);
    return { outcome: 'issued', ticket };
  };

  issueAdditional: Tickets['issueAdditional'] = async (kind, request) => {
    const { live, context, challenge, ttlSeconds, limit, proof } = request;
    const store = this.#store;
    const chain = readChain(live.ticket);
    const stored = store.live.get(keyOf(live.kind, live.ticket));
    if (chain !== undefined && store.isProofUsed(chain.correlationId, proof))
      return { outcome: 'used-proof' };
    if (chain === undefined || stored === undefined || store.revoked.has(stored.correlationId))
      return { outcome: 'unknown' };
    if (!isProven(stored, live)) return { outcome: 'mismatch' };
    const { correlationId, endsAt, additional } = stored;
    const now = store.clock.now();
    const issuedAt = (additional?.issuedAt ?? []).filter((time) => time > now - limit.seconds * 1000);
    const [oldest = now] = issuedAt;
    if (issuedAt.length >= limit.tickets)
      return { outcome: 'limited', waitSeconds: (oldest - now) / 1000 + limit.seconds, correlationId };
    const ticket = nameTicket(beginChain(correlationId, chain.shard));
    const key = keyOf(kind, ticket);
    if (additional !== undefined) store.live.delete(additional.key);
    store.useProof(correlationId, proof);
    stored.additional = { key, issuedAt: [...issuedAt, now] };
    const text = JSON.stringify(context);
    this.#setLive(key, { context: text, detail: undefined, challenge, correlationId, endsAt }, ttlSeconds);
    return { outcome: 'issued', ticket, correlationId };
  };

  redeem: Tickets['redeem'] = async (kind, ticket, request) => {
    assertRepeatable(request);
    const store = this.#store;
    const chain = readChain(ticket);
    if (chain === undefined) return { outcome: 'unknown' };
    if (store.isProofUsed(chain.correlationId, request.proof)) return { outcome: 'used-proof' };
    const key = keyOf(kind, ticket);
    const usedBy = store.used.get(key);
    if (usedBy !== undefined) return await this.#redeemUsed({ kind, key, ticket, chain }, request, usedBy);

    const stored = store.live.get(key);
    if (stored === undefined || store.revoked.has(stored.correlationId))
      return { outcome: 'unknown', ...this.#noticeOf(key) };
    const { correlationId } = stored;
    if (!isProven(stored, request)) {
      await this.#countMismatch(key, stored, request);
      return { outcome: 'mismatch', correlationId, ...this.#noticeOf(key) };
    }

    if (this.#isExhausted(kind, correlationId, request)) return this.#exhausted(stored);
    const { successor, repeatableSeconds, events } = request;
    const content = Number.isFinite(stored.endsAt)
      ? stored
      : { ...stored, endsAt: this.#endAfter(successor?.chainSeconds) };
    const endsWithChain = usedUntilChainEnds.has(kind) && Number.isFinite(content.endsAt);
    const usedSeconds = endsWithChain ? this.#secondsUntilEnd(content) : store.usedMarkerSeconds;
    store.used.set(key, correlationId, usedSeconds);
    store.live.delete(key);
    this.#countRedemption(kind, content, request);
    if (repeatableSeconds !== undefined) {
      const redemption = { ...content, redeemedAt: store.clock.now() };
      store.repeatable.set(key, redemption, this.#within(content, repeatableSeconds));
    }
    const next = this.#nameSuccessor(successor, { ticket, chain });
    if (next !== undefined) {
      const { context, endsAt } = content;
      const detail = JSON.stringify(next.detail);
      const inherited = { context, detail, challenge: next.challenge, correlationId, endsAt };
      this.#setLive(keyOf(next.kind, next.ticket), inherited, next.ttlSeconds);
    }
    await store.append(events, correlationId);
    return {
      outcome: 'redeemed',
      ...this.#found(content),
      ...(next && { successor: next.ticket }),
    };
  };

  find: Tickets['find'] = async (kind, ticket, { extendSeconds } = {}) => {
    const key = keyOf(kind, ticket);
    const content = this.#store.live.get(key);
    if (content === undefined || this.#store.revoked.has(content.correlationId)) return undefined;
    if (extendSeconds !== undefined) this.#setLive(key, content, extendSeconds);
    return this.#found(content);
  };

  async #countMismatch(key: string, content: Content, { onMismatch }: RedeemRequest): Promise<void> {
    if (onMismatch === undefined) return;
    content.mismatches = (content.mismatches ?? 0) + 1;
    if (content.mismatches < onMismatch.limit) return;
    const { correlationId } = content;
    this.#store.used.set(key, correlationId, this.#store.usedMarkerSeconds);
    this.#store.live.delete(key);
    const { revokeForSeconds: forSeconds, events } = onMismatch;
    await this.#chains.revoke(correlationId, { forSeconds, events });
  }

  async #redeemUsed(
    { kind, key, ticket, chain }: { kind: TicketKind; key: string; ticket: string; chain: Chain },
    request: RedeemRequest,
    correlationId: string,
  ): Promise<Redemption> {
    const { repeatableSeconds, onReplay } = request;
    const store = this.#store;
    const content = repeatableSeconds === undefined ? undefined : store.repeatable.get(key);
    const isValid = content !== undefined && !store.revoked.has(correlationId) && isProven(content, request);
    const next = isValid ? this.#unusedSuccessor({ ticket, chain }, request) : undefined;
    if (content !== undefined && next !== undefined) {
      if (this.#isExhausted(kind, correlationId, request)) return this.#exhausted(content);
      this.#countRedemption(kind, content, request);
      return { outcome: 'repeated', ...this.#found(content), successor: next };
    }
    if (onReplay !== undefined) {
      const { revokeForSeconds: forSeconds, events } = onReplay;
      await this.#chains.revoke(correlationId, { forSeconds, events });
    }
    return { outcome: 'used', correlationId, ...this.#noticeOf(key) };
  }

  /** Returns the first unused successor, or undefined if the ticket's own successor was used too long ago. */
  #unusedSuccessor(
    used: { readonly ticket: string; readonly chain: Chain },
    request: RedeemRequest,
  ): string | undefined {
    const { repeatableSeconds = 0, repeatableAfterUseSeconds = repeatableSeconds } = request;
    const next = this.#nameSuccessor(request.successor, used);
    if (next === undefined) return undefined;
    const key = keyOf(next.kind, next.ticket);
    if (this.#store.live.has(key)) return next.ticket;
    const redeemedAt = this.#store.repeatable.get(key)?.redeemedAt ?? Number.NEGATIVE_INFINITY;
    if (this.#store.clock.now() - redeemedAt >= repeatableAfterUseSeconds * 1000) return undefined;
    return this.#unusedSuccessor({ ...used, ticket: next.ticket }, request);
  }

  /** Returns the successor with its ticket, which is random or derived from the predecessor's ticket. */
  #nameSuccessor(
    successor: Successor | undefined,
    predecessor: { readonly ticket: string; readonly chain: Chain },
  ): (Successor & { readonly ticket: string }) | undefined {
    if (successor === undefined) return undefined;
    const name = keyOf(successor.kind, predecessor.ticket);
    const own = successor.isDerived
      ? createHmac('sha256', this.#derivationKey).update(name).digest()
      : randomBytes(32);
    return { ...successor, ticket: nameTicket(predecessor.chain, own) };
  }

  #isExhausted(kind: TicketKind, correlationId: string, { limit }: RedeemRequest): boolean {
    return limit !== undefined && this.#redemptionsOf(kind, correlationId) >= limit.redemptions;
  }

  #exhausted(content: Content): Redemption {
    const { correlationId, chainEndsInSeconds } = this.#found(content);
    return { outcome: 'exhausted', correlationId, ...withoutUndefined({ chainEndsInSeconds }) };
  }

  /** Uses up the proof of a redemption. If the request has a limit, counts the redemption. */
  #countRedemption(kind: TicketKind, content: Content, { limit, proof }: RedeemRequest): void {
    const { correlationId } = content;
    this.#store.useProof(correlationId, proof);
    if (limit === undefined) return;
    const seconds = Number.isFinite(content.endsAt)
      ? this.#secondsUntilEnd(content)
      : this.#store.usedMarkerSeconds;
    const count = this.#redemptionsOf(kind, correlationId) + 1;
    this.#store.redemptions.set(`${kind}:${correlationId}`, count, seconds);
  }

  #redemptionsOf(kind: TicketKind, correlationId: string): number {
    return this.#store.redemptions.get(`${kind}:${correlationId}`) ?? 0;
  }

  #found(content: Content): FoundTicket {
    const { context, detail, correlationId, endsAt } = content;
    return {
      context: JSON.parse(context),
      detail: detail === undefined ? undefined : JSON.parse(detail),
      correlationId,
      ...(Number.isFinite(endsAt) ? { chainEndsInSeconds: this.#secondsUntilEnd(content) } : {}),
    };
  }

  #noticeOf(key: string): { notice?: unknown } {
    const notice = this.#store.notices.get(key);
    return notice === undefined ? {} : { notice: JSON.parse(notice) };
  }

  #setLive(key: string, content: Content, ttlSeconds: number): void {
    this.#store.live.set(key, content, this.#within(content, ttlSeconds));
  }

  /** Returns a lifetime in seconds, shortened so that it does not exceed the end of the chain. */
  #within(content: Content, seconds: number): number {
    return Math.min(seconds, this.#secondsUntilEnd(content));
  }

  #endAfter(chainSeconds = Number.POSITIVE_INFINITY): number {
    return this.#store.clock.now() + chainSeconds * 1000;
  }

  /** Returns the seconds until the chain ends; Infinity for a chain without an end. */
  #secondsUntilEnd({ endsAt }: Content): number {
    return (endsAt - this.#store.clock.now()) / 1000;
  }

  #claim(claim: IssueRequest['claim']): boolean {
    if (claim === undefined) return true;
    const holder = this.#store.claims.get(claim.name);
    if (holder !== undefined) return claim.joins?.includes(holder) ?? false;
    this.#store.claims.set(claim.name, claim.holder, claim.ttlSeconds);
    return true;
  }
}

/** Returns whether the ticket has no challenge, or one of the proofs equals its challenge. */
const isProven = ({ challenge }: Content, { proofs = [] }: Pick<RedeemRequest, 'proofs'>): boolean =>
  challenge === undefined || proofs.some((proof) => isEqual(proof, challenge));

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
