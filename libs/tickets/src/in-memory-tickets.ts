import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts';
import type {
  FoundTicket,
  Issue,
  IssueRequest,
  RedeemRequest,
  Redemption,
  TicketKind,
  Tickets,
} from './tickets.ts';

type Entry = {
  readonly context: string;
  readonly detail: string | undefined;
  readonly challenge: string | undefined;
  readonly correlationId: string;
  expiresAt: number;
  used: boolean;
};

/** What the tickets need of the world: a clock in milliseconds and a place that takes events at once. */
export type InMemoryTicketsBacking = {
  readonly clock: { now(): number };
  readonly outbox: { append(events: readonly CloudEvent[]): Promise<void> };
  /** How long a replay is told `used` rather than `unknown`. */
  readonly usedMarkerSeconds?: number;
};

const sweepEveryMs = 10_000;

/**
 * Tickets of one process. Guarantees what `Tickets` promises because every operation runs to its end within one
 * turn of the event loop; keeps nothing over a restart and shares nothing with another process.
 */
export class InMemoryTickets implements Tickets {
  readonly #clock: { now(): number };
  readonly #outbox: InMemoryTicketsBacking['outbox'];
  readonly #usedMarkerMs: number;
  readonly #entries = new Map<string, Entry>();
  readonly #claims = new Map<string, { holder: string; expiresAt: number }>();
  #sweptAt = 0;

  constructor({ clock, outbox, usedMarkerSeconds = 86_400 }: InMemoryTicketsBacking) {
    this.#clock = clock;
    this.#outbox = outbox;
    this.#usedMarkerMs = usedMarkerSeconds * 1000;
  }

  async issue(kind: TicketKind, request: IssueRequest): Promise<Issue> {
    this.#sweep();
    if (!this.#claim(request.claim)) return { outcome: 'claimed' };
    const ticket = this.#store(kind, {
      context: JSON.stringify(request.context),
      detail: request.detail,
      challenge: request.challenge,
      correlationId: request.correlationId,
      ttlSeconds: request.ttlSeconds,
    });
    await this.#outbox.append(request.events);
    return { outcome: 'issued', ticket };
  }

  async redeem(kind: TicketKind, ticket: string, request: RedeemRequest): Promise<Redemption> {
    const redemption = this.#redeem(kind, ticket, request);
    if (redemption.outcome === 'redeemed') {
      const { correlationId } = redemption;
      await this.#outbox.append(request.events.map((event) => ({ ...event, correlationid: correlationId })));
    }
    return redemption;
  }

  async find(
    kind: TicketKind,
    ticket: string,
    { extendSeconds }: { extendSeconds?: number } = {},
  ): Promise<FoundTicket | undefined> {
    const entry = this.#live(kind, ticket);
    if (entry === undefined || entry.used) return undefined;
    if (extendSeconds !== undefined) entry.expiresAt = this.#clock.now() + extendSeconds * 1000;
    return { ...contentOf(entry), correlationId: entry.correlationId };
  }

  #redeem(kind: TicketKind, ticket: string, { proofs = [], successor }: RedeemRequest): Redemption {
    const entry = this.#live(kind, ticket);
    if (entry === undefined) return { outcome: 'unknown' };
    const { correlationId, challenge, context } = entry;
    if (entry.used) return { outcome: 'used', correlationId };
    if (challenge !== undefined && !proofs.some((proof) => isEqual(proof, challenge))) {
      return { outcome: 'mismatch', correlationId };
    }
    entry.used = true;
    entry.expiresAt = this.#clock.now() + this.#usedMarkerMs;
    const redeemed = { outcome: 'redeemed' as const, ...contentOf(entry), correlationId };
    if (successor === undefined) return redeemed;
    const { kind: successorKind, ...rest } = successor;
    return { ...redeemed, successor: this.#store(successorKind, { context, correlationId, ...rest }) };
  }

  #store(
    kind: TicketKind,
    {
      context,
      detail,
      challenge,
      correlationId,
      ttlSeconds,
    }: {
      context: string;
      detail?: unknown;
      challenge?: string | undefined;
      correlationId: string;
      ttlSeconds: number;
    },
  ): string {
    const ticket = randomBytes(32).toString('base64url');
    this.#entries.set(keyOf(kind, ticket), {
      context,
      detail: JSON.stringify(detail),
      challenge,
      correlationId,
      expiresAt: this.#clock.now() + ttlSeconds * 1000,
      used: false,
    });
    return ticket;
  }

  #claim(claim: IssueRequest['claim']): boolean {
    if (claim === undefined) return true;
    const held = this.#claims.get(claim.name);
    if (held !== undefined && held.expiresAt > this.#clock.now())
      return claim.joins?.includes(held.holder) ?? false;
    this.#claims.set(claim.name, {
      holder: claim.holder,
      expiresAt: this.#clock.now() + claim.ttlSeconds * 1000,
    });
    return true;
  }

  #live(kind: TicketKind, ticket: string): Entry | undefined {
    const entry = this.#entries.get(keyOf(kind, ticket));
    return entry !== undefined && entry.expiresAt > this.#clock.now() ? entry : undefined;
  }

  #sweep(): void {
    const now = this.#clock.now();
    if (now - this.#sweptAt < sweepEveryMs) return;
    this.#sweptAt = now;
    for (const kept of [this.#entries, this.#claims]) {
      for (const [key, { expiresAt }] of kept) if (expiresAt <= now) kept.delete(key);
    }
  }
}

const keyOf = (kind: TicketKind, ticket: string) =>
  `${kind}:${createHash('sha256').update(ticket).digest('base64url')}`;

const contentOf = ({ context, detail }: Entry): { context: unknown; detail: unknown } => ({
  context: JSON.parse(context),
  detail: detail === undefined ? undefined : JSON.parse(detail),
});

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
