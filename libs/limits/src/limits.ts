import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';

/** A refused request, or several of the same kind in one event. */
export type RefusalRecord = {
  /** The refused caller: its address, or its verified identity. */
  readonly from: string;
  /** The limit against which the refusal is counted. If absent, only the events are stored. */
  readonly limit?: RefusalLimit;
  /**
   * The events, which are stored if the address is within its limit and the refusals' share of Redis is not
   * full.
   */
  readonly events: readonly CloudEvent[];
};

/**
 * The number of refusals of an address in a window that get their own answer. Further requests are answered
 * 429.
 */
export type RefusalLimit = { readonly refusals: number; readonly windowSeconds: number };

export type RecordedRefusal = {
  /** The milliseconds until the address is within its limit again. 0 if it is. */
  readonly overForMs: number;
  /** The number of events that were dropped because the refusals' share of Redis is full. */
  readonly dropped: number;
};

export type FailedAttempt = {
  /** Whether this attempt was counted. Attempts during a wait are not. */
  readonly isCounted: boolean;
  /** The milliseconds until the next attempt is allowed. 0 without a wait. */
  readonly waitMs: number;
};

/**
 * The limits that all replicas share. Unauthenticated callers cause the calls, so all stored data is bounded:
 * addresses, failed attempts, and the events of refusals. Accepted requests are not counted here and never
 * dropped.
 */
export interface Limits {
  /** Counts a refusal and stores its events. @throws RedisUnavailable if Redis does not answer */
  refuse(refusal: RefusalRecord): Promise<RecordedRefusal>;
  /**
   * Counts a failed attempt to authenticate. From the fifth failure within a minute, each failure causes a
   * wait: first one second, then twice as long each time, at most a minute.
   * @throws RedisUnavailable if Redis does not answer
   */
  failAttempt(key: string): Promise<FailedAttempt>;
  /** Deletes the failed attempts. @throws RedisUnavailable if Redis does not answer */
  forgiveAttempts(key: string): Promise<void>;
}

/**
 * The failure from which waits begin, the duration of the waits, and the time after which failures are
 * forgotten.
 */
export const attemptRules = {
  freeAttempts: 5,
  firstWaitMs: 1000,
  maxWaitMs: 60_000,
  forgottenAfterMs: 60_000,
};

/** The default maximum number of waiting refusal events. With about 0.7 kB each, they use 11 MB of Redis. */
export const defaultMostRefusalEvents = 16_000;
