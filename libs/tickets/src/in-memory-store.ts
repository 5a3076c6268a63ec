import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { ChainRecord, SingleUse } from './tickets.ts';

/** A clock in milliseconds, and an outbox that stores events in the same turn of the event loop. */
export type InMemoryStoreDependencies = {
  readonly clock: { now(): number };
  readonly outbox: { append(events: readonly CloudEvent[]): Promise<void> };
  /** The seconds for which a replay is answered `used` instead of `unknown`. */
  readonly usedMarkerSeconds?: number;
};

/** A stored ticket. `context` and `detail` are JSON. */
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

/** What the tickets, chains and claims of one process store. Nothing is stored across a restart. */
export class InMemoryStore {
  readonly clock: { now(): number };
  readonly usedMarkerSeconds: number;
  readonly live: ExpiringMap<Content>;
  /** The content of each notice, as JSON. */
  readonly notices: ExpiringMap<string>;
  /** The correlation id of each used ticket. */
  readonly used: ExpiringMap<string>;
  /** The result of each redemption, while the redemption may be repeated. */
  readonly repeatable: ExpiringMap<Content>;
  readonly redemptions: ExpiringMap<number>;
  readonly revoked: ExpiringMap<true>;
  readonly records: ExpiringMap<ChainRecord & { readonly labels: readonly string[] }>;
  readonly uses: ExpiringMap<{ readonly endsAt: number; count: number }>;
  readonly claims: ExpiringMap<string>;
  /** The names and the proofs that were used. */
  readonly presented: ExpiringMap<true>;
  readonly #outbox: InMemoryStoreDependencies['outbox'];

  constructor({ clock, outbox, usedMarkerSeconds = 86_400 }: InMemoryStoreDependencies) {
    this.clock = clock;
    this.usedMarkerSeconds = usedMarkerSeconds;
    this.#outbox = outbox;
    this.live = new ExpiringMap(clock);
    this.notices = new ExpiringMap(clock);
    this.used = new ExpiringMap(clock);
    this.repeatable = new ExpiringMap(clock);
    this.redemptions = new ExpiringMap(clock);
    this.revoked = new ExpiringMap(clock);
    this.records = new ExpiringMap(clock);
    this.uses = new ExpiringMap(clock);
    this.claims = new ExpiringMap(clock);
    this.presented = new ExpiringMap(clock);
  }

  isProofUsed(correlationId: string, proof: SingleUse | undefined): boolean {
    return proof !== undefined && this.presented.has(`${correlationId} ${proof.name}`);
  }

  useProof(correlationId: string, proof: SingleUse | undefined): void {
    if (proof !== undefined) this.presented.set(`${correlationId} ${proof.name}`, true, proof.forSeconds);
  }

  /** Appends events to the outbox. If they belong to a chain, sets their correlation id to that of the chain. */
  async append(events: readonly CloudEvent[], correlationid?: string): Promise<void> {
    await this.#outbox.append(
      correlationid === undefined ? events : events.map((event) => ({ ...event, correlationid })),
    );
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

  /** The number of entries in memory, which includes expired entries until they are removed. */
  get size(): number {
    return this.#entries.size;
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
