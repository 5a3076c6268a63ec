import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import {
  attemptRules,
  defaultMostRefusalEvents,
  type FailedAttempt,
  type Limits,
  type RecordedRefusal,
  type RefusalRecord,
} from './limits.ts';

export type InMemoryLimitsDependencies = {
  readonly clock: { now(): number };
  /** Stores the events of refusals. If `depth` is absent, the outbox counts as empty. */
  readonly outbox: { append(events: readonly CloudEvent[]): Promise<void>; depth?(): Promise<number> };
  readonly mostEvents?: number;
};

type Attempts = { readonly count: number; readonly failedAt: number; readonly waitsUntil: number };

const maxEntries = 10_000;

/** The limits of a platform that runs in a single process. */
export class InMemoryLimits implements Limits {
  readonly #clock: InMemoryLimitsDependencies['clock'];
  readonly #outbox: InMemoryLimitsDependencies['outbox'];
  readonly #mostEvents: number;
  readonly #attempts = new Map<string, Attempts>();
  /** The number of refusals of each address in the current window. */
  #refusals = new Map<string, number>();
  #windowEndsAt = 0;

  constructor({ clock, outbox, mostEvents = defaultMostRefusalEvents }: InMemoryLimitsDependencies) {
    this.#clock = clock;
    this.#outbox = outbox;
    this.#mostEvents = mostEvents;
  }

  async refuse({ from, limit, events }: RefusalRecord): Promise<RecordedRefusal> {
    if (limit !== undefined && this.#countRefusal(from, limit.windowSeconds) > limit.refusals) {
      return { overForMs: this.#windowEndsAt - this.#clock.now(), dropped: 0 };
    }
    const waiting = (await this.#outbox.depth?.()) ?? 0;
    if (waiting + events.length > this.#mostEvents) return { overForMs: 0, dropped: events.length };
    await this.#outbox.append(events);
    return { overForMs: 0, dropped: 0 };
  }

  async failAttempt(key: string): Promise<FailedAttempt> {
    const now = this.#clock.now();
    const { freeAttempts, firstWaitMs, maxWaitMs, forgottenAfterMs } = attemptRules;
    const known = this.#attempts.get(key);
    if (known !== undefined && known.waitsUntil > now)
      return { isCounted: false, waitMs: known.waitsUntil - now };
    const isForgotten =
      known === undefined || Math.max(known.failedAt, known.waitsUntil) + forgottenAfterMs <= now;
    const count = isForgotten ? 1 : known.count + 1;
    const waitMs = count < freeAttempts ? 0 : Math.min(firstWaitMs * 2 ** (count - freeAttempts), maxWaitMs);
    if (this.#attempts.size >= maxEntries) this.#attempts.clear();
    this.#attempts.set(key, { count, failedAt: now, waitsUntil: now + waitMs });
    return { isCounted: true, waitMs };
  }

  #countRefusal(from: string, windowSeconds: number): number {
    const now = this.#clock.now();
    if (now >= this.#windowEndsAt) {
      this.#windowEndsAt = now + windowSeconds * 1000;
      this.#refusals = new Map();
    }
    const isKnown = this.#refusals.has(from) || this.#refusals.size < maxEntries;
    const counted = isKnown ? from : othersName;
    const count = (this.#refusals.get(counted) ?? 0) + 1;
    this.#refusals.set(counted, count);
    return count;
  }
}

/** The key of the count that all addresses beyond `maxEntries` share. */
const othersName = 'others';
