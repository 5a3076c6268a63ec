import type { CloudEvent } from '@clinical-launch/contracts';

/** One refused request, or several of the same kind as one event. */
export type RefusalRecord = {
  /** Who was refused: an address, or a caller that was verified. */
  readonly from: string;
  /** Counts the refusal against its address; absent for what is only kept. */
  readonly limit?: RefusalLimit;
  /** Kept if the address is within its limit and the refusals' share has room. */
  readonly events: readonly CloudEvent[];
};

/** How many refusals of one address are answered as such in a window; the others are answered 429. */
export type RefusalLimit = { readonly refusals: number; readonly windowSeconds: number };

export type RecordedRefusal = {
  /** Milliseconds until refusals of the address are no longer over its limit; 0 within the limit. */
  readonly overForMs: number;
  /** Events that were not kept because the refusals' share is full. */
  readonly dropped: number;
};

export type FailedAttempt = {
  /** Whether this attempt was counted; one within the wait of an earlier attempt is not. */
  readonly isCounted: boolean;
  /** Milliseconds until the next attempt; 0 while there is no wait. */
  readonly waitMs: number;
};

/**
 * What all replicas count together. Strangers decide how often it is called, so everything that it stores is bounded:
 * addresses, failed attempts, and the events of refusals. Accepted work is not counted here and never dropped.
 */
export interface Limits {
  /** Counts a refusal and keeps its events. @throws TicketsUnavailable when the store does not answer */
  refuse(refusal: RefusalRecord): Promise<RecordedRefusal>;
  /**
   * Counts a failed attempt to authenticate. The fifth within a minute and each later one is followed by a wait: one
   * second, then twice as long each time, at most a minute.
   * @throws TicketsUnavailable when the store does not answer
   */
  failAttempt(key: string): Promise<FailedAttempt>;
  /** Forgets the failed attempts. @throws TicketsUnavailable when the store does not answer */
  forgiveAttempts(key: string): Promise<void>;
}

/** When waits begin, how long they become, and after how long without an attempt they end. */
export const attemptRules = {
  freeAttempts: 5,
  firstWaitMs: 1000,
  longestWaitMs: 60_000,
  forgottenAfterMs: 60_000,
};

/** How many events of refusals wait at most, by default. At some 0.7 kB each they take 11 MB of Redis. */
export const defaultMostRefusalEvents = 16_000;
