import type { InMemoryStore } from './in-memory-store.ts';

/** A claim on a caller's identifier, as recorded outside the ticket store. */
export type HeldClaim = {
  readonly name: string;
  readonly holder: string;
  /** The time at which the claim expires, in milliseconds since 1970. */
  readonly expiresAt: number;
};

/**
 * The claims of a ticket store, for a service that also records claims elsewhere. If the store loses its
 * data, its claims are rebuilt from the records of the service before it accepts new claims.
 */
export interface Claims {
  /**
   * Returns whether the store contains every recorded claim. @throws RedisUnavailable when the store does not
   * answer
   */
  areComplete(): Promise<boolean>;
  /** Stores the claims whose names are free. Leaves existing claims unchanged. @throws RedisUnavailable */
  hold(claims: readonly HeldClaim[]): Promise<void>;
  /**
   * Stores every recorded claim, page by page, and then declares the claims complete. Resolves with false if
   * the store lost its data during the rebuild. In this case, call `rebuild` again.
   * @throws RedisUnavailable, or the error of `recorded`. The claims are then not complete.
   */
  rebuild(recorded: AsyncIterable<readonly HeldClaim[]>): Promise<boolean>;
}

/** The claims of tickets in memory. */
export class InMemoryClaims implements Claims {
  readonly #store: InMemoryStore;
  #isComplete = false;

  constructor(store: InMemoryStore) {
    this.#store = store;
  }

  async areComplete(): Promise<boolean> {
    return this.#isComplete;
  }

  async hold(recorded: readonly HeldClaim[]): Promise<void> {
    const { claims, clock } = this.#store;
    for (const { name, holder, expiresAt } of recorded) {
      const ttlSeconds = (expiresAt - clock.now()) / 1000;
      if (ttlSeconds > 0 && !claims.has(name)) claims.set(name, holder, ttlSeconds);
    }
  }

  async rebuild(recorded: AsyncIterable<readonly HeldClaim[]>): Promise<boolean> {
    for await (const page of recorded) await this.hold(page);
    this.#isComplete = true;
    return true;
  }
}
