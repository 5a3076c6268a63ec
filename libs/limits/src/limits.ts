import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';

/** One refused request, or several of the same kind as one event. */
export type RefusalRecord = {
  /** The refused caller: an address, or a verified caller. */
  readonly from: string;
  /** Counts the refusal against its address; absent if only the events are stored. */
  readonly limit?: RefusalLimit;
  /** Stored if the address is within its limit and the refusals' share has room. */
  readonly events: readonly CloudEvent[];
};

/**
 * The number of refusals of one address that are answered as such in a window; the others are answered 429.
 */
export type RefusalLimit = { readonly refusals: number; readonly windowSeconds: number };

export type RecordedRefusal = {
  /** Milliseconds until the address is within its limit again; 0 within the limit. */
  readonly overForMs: number;
  /** Events that were dropped because the refusals' share is full. */
  readonly dropped: number;
};

export type FailedAttempt = {
  /** Whether this attempt was counted; an attempt during the wait of an earlier one is not. */
  readonly isCounted: boolean;
  /** Milliseconds until the next attempt is allowed; 0 without a wait. */
  readonly waitMs: number;
};

/**
 * The limits that all replicas count together. Strangers decide how often it is called, so everything that it
 * stores is bounded: addresses, failed attempts, and the events of refusals. Accepted work is not counted
 * here and never dropped.
 */
export interface Limits {
  /** Counts a refusal and stores its events. @throws RedisUnavailable when the store does not answer */
  refuse(refusal: RefusalRecord): Promise<RecordedRefusal>;
  /**
   * Counts a failed attempt to authenticate. After the fifth failure within a minute, each further failure
   * causes a wait: one second, then twice as long each time, at most a minute.
   * @throws RedisUnavailable when the store does not answer
   */
  failAttempt(key: string): Promise<FailedAttempt>;
  /** Forgets the failed attempts. @throws RedisUnavailable when the store does not answer */
  forgiveAttempts(key: string): Promise<void>;
}

/**
 * The failures before the first wait, the lengths of the waits, and the time after which failures are
 * forgotten.
 */
export const attemptRules = {
  freeAttempts: 5,
  firstWaitMs: 1000,
  maxWaitMs: 60_000,
  forgottenAfterMs: 60_000,
};

/**
 * The maximum number of waiting refusal events, by default. At about 0.7 kB each they take 11 MB of Redis.
 */
export const defaultMostRefusalEvents = 16_000;
