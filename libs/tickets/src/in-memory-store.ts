import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { type Chain, nameTicket } from './ticket-format.ts';
import type {
  ChainUse,
  ChainUseOutcome,
  FoundTicket,
  RedeemRequest,
  Redemption,
  SingleUse,
  Successor,
  TicketKind,
} from './tickets.ts';

export type Content = {
  readonly context: string;
  readonly detail: string | undefined;
  readonly challenge: string | undefined;
  readonly correlationId: string;
  /** The time at which the chain ends, in milliseconds since 1970; Infinity for a chain without an end. */
  readonly endsAt: number;
  mismatches?: number;
  /** When the ticket was redeemed, in milliseconds since 1970. */
  readonly redeemedAt?: number;
  /**
   * The additional ticket of this ticket (`issueAdditional`), and the times of the issues that still count
   * towards the limit.
   */
  additional?: { readonly key: string; readonly issuedAt: readonly number[] };
};

/** Returns the name under which the content of a ticket is stored. */
export const keyOf = (kind: TicketKind, ticket: string) =>
  `${kind}:${createHash('sha256').update(ticket).digest('base64url')}`;

/** Returns the successor with its ticket, which is random or derived from the predecessor's ticket. */
export function nameSuccessor(
  successor: Successor | undefined,
  predecessor: { readonly ticket: string; readonly chain: Chain },
  derivationKey: Buffer,
): (Successor & { readonly ticket: string }) | undefined {
  if (successor === undefined) return undefined;
  const own = successor.isDerived
    ? createHmac('sha256', derivationKey).update(keyOf(successor.kind, predecessor.ticket)).digest()
    : randomBytes(32);
  return { ...successor, ticket: nameTicket(predecessor.chain, own) };
}

/** Returns the seconds from `now` until the chain ends; Infinity for a chain without an end. */
export const secondsUntilEnd = ({ endsAt }: Content, now: number): number => (endsAt - now) / 1000;

/** Returns the content that a caller receives at the time `now`. */
export function found(content: Content, now: number): FoundTicket {
  const { context, detail, correlationId, endsAt } = content;
  return {
    context: JSON.parse(context),
    detail: detail === undefined ? undefined : JSON.parse(detail),
    correlationId,
    ...(Number.isFinite(endsAt) ? { chainEndsInSeconds: secondsUntilEnd(content, now) } : {}),
  };
}

/** Returns the outcome of a redemption beyond the limit of its chain. */
export const exhausted = ({ correlationId, chainEndsInSeconds }: FoundTicket): Redemption => ({
  outcome: 'exhausted',
  correlationId,
  ...withoutUndefined({ chainEndsInSeconds }),
});

/** Returns whether the ticket has no challenge, or one of the proofs equals its challenge. */
export const isProven = ({ challenge }: Content, { proofs = [] }: Pick<RedeemRequest, 'proofs'>): boolean =>
  challenge === undefined || proofs.some((proof) => isEqual(proof, challenge));

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The used proofs, and the number of redemptions and of uses of each chain, in one process. */
export class ChainBounds {
  readonly #clock: { now(): number };
  readonly #proofs: ExpiringMap<true>;
  readonly #redemptions: ExpiringMap<number>;
  readonly #uses: ExpiringMap<{ readonly endsAt: number; count: number }>;

  constructor(clock: { now(): number }) {
    this.#clock = clock;
    this.#proofs = new ExpiringMap(clock);
    this.#redemptions = new ExpiringMap(clock);
    this.#uses = new ExpiringMap(clock);
  }

  isUsed(correlationId: string, proof: SingleUse | undefined): boolean {
    return proof !== undefined && this.#proofs.has(`${correlationId} ${proof.name}`);
  }

  useProof(correlationId: string, proof: SingleUse | undefined): void {
    if (proof !== undefined) this.#proofs.set(`${correlationId} ${proof.name}`, true, proof.forSeconds);
  }

  isExhausted(kind: TicketKind, correlationId: string, { limit }: RedeemRequest): boolean {
    return limit !== undefined && this.#redemptionsOf(kind, correlationId) >= limit.redemptions;
  }

  /**
   * Uses up the proof of a redemption. If the request has a limit, counts the redemption until the chain
   * ends.
   */
  countRedemption(
    kind: TicketKind,
    { correlationId, endsInSeconds }: { readonly correlationId: string; readonly endsInSeconds: number },
    { limit, proof }: RedeemRequest,
  ): void {
    this.useProof(correlationId, proof);
    if (limit === undefined) return;
    const count = this.#redemptionsOf(kind, correlationId) + 1;
    this.#redemptions.set(`${kind}:${correlationId}`, count, endsInSeconds);
  }

  /**
   * Counts a use of a chain and uses up its proof, unless the proof was used before or the limit is reached.
   */
  use(correlationId: string, { proof, limit }: ChainUse): ChainUseOutcome {
    if (this.isUsed(correlationId, proof)) return { outcome: 'used-proof' };
    const now = this.#clock.now();
    const uses = this.#uses.get(correlationId) ?? { endsAt: now + limit.seconds * 1000, count: 0 };
    if (uses.count >= limit.uses) return { outcome: 'limited', waitSeconds: (uses.endsAt - now) / 1000 };
    uses.count += 1;
    if (uses.count === 1) this.#uses.set(correlationId, uses, limit.seconds);
    this.useProof(correlationId, proof);
    return { outcome: 'accepted' };
  }

  #redemptionsOf(kind: TicketKind, correlationId: string): number {
    return this.#redemptions.get(`${kind}:${correlationId}`) ?? 0;
  }
}

const sweepEveryMs = 10_000;

/** A map that hides an entry once it has expired, and removes expired entries when it stores a value. */
export class ExpiringMap<Value> {
  readonly #clock: { now(): number };
  readonly #entries = new Map<string, { value: Value; expiresAt: number }>();
  #sweptAt = 0;

  constructor(clock: { now(): number }) {
    this.#clock = clock;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.expiresAt > this.#clock.now() ? entry.value : undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: Value, ttlSeconds: number): void {
    this.#sweep();
    this.#entries.set(key, { value, expiresAt: this.#clock.now() + ttlSeconds * 1000 });
  }

  *entries(): Generator<readonly [string, Value]> {
    const now = this.#clock.now();
    for (const [key, { value, expiresAt }] of this.#entries) if (expiresAt > now) yield [key, value];
  }

  /** Stores a value and extends its expiry, unless the entry already expires later. */
  prolong(key: string, value: Value, ttlSeconds: number): void {
    const expiresAt = this.#entries.get(key)?.expiresAt ?? 0;
    if (expiresAt < this.#clock.now() + ttlSeconds * 1000) this.set(key, value, ttlSeconds);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  #sweep(): void {
    const now = this.#clock.now();
    if (now - this.#sweptAt < sweepEveryMs) return;
    this.#sweptAt = now;
    for (const [key, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#entries.delete(key);
  }
}
