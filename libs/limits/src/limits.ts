import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';

/** A refused request, or several similar refused requests that one event reports. */
export type RefusalRecord = {
  /** The address of the refused caller, or its identity if the caller is verified. */
  readonly from: string;
  /** The limit of refusals for the caller. If absent, the refusal is not counted. */
  readonly limit?: RefusalLimit;
  /**
   * The events. They are stored if the caller is within its limit and Redis contains fewer than the maximum
   * number of waiting events.
   */
  readonly events: readonly CloudEvent[];
};

/**
 * The number of refusals of an address that are answered with their own error in a window. Further refusals
 * are answered 429.
 */
export type RefusalLimit = { readonly refusals: number; readonly windowSeconds: number };

export type RecordedRefusal = {
  /**
   * The milliseconds until the address is within its limit again, or 0 if the address is within its limit.
   */
  readonly overForMs: number;
  /** The number of events that were dropped because the maximum number already waits. */
  readonly dropped: number;
};

export type FailedAttempt = {
  /** True if this attempt was counted. An attempt during a wait is not counted. */
  readonly isCounted: boolean;
  /** The milliseconds until the next attempt is allowed, or 0 if it is allowed immediately. */
  readonly waitMs: number;
};

/**
 * The limits that all replicas share. Unauthenticated callers can add entries, so the number of stored
 * addresses, failed attempts and refusal events is limited. Accepted requests are neither counted nor refused
 * here.
 */
export interface Limits {
  /** Counts a refusal and stores its events. @throws RedisUnavailable if Redis does not answer */
  refuse(refusal: RefusalRecord): Promise<RecordedRefusal>;
  /**
   * Counts a failed attempt to authenticate. The fifth failure causes a wait of one second. Each further
   * failure doubles the wait, up to a minute. Failures are forgotten a minute after the last failure and its
   * wait.
   * @throws RedisUnavailable if Redis does not answer
   */
  failAttempt(key: string): Promise<FailedAttempt>;
}

/**
 * The number of the first failure that causes a wait, the duration of waits, and the time after which
 * failures are forgotten.
 */
export const attemptRules = {
  freeAttempts: 5,
  firstWaitMs: 1000,
  maxWaitMs: 60_000,
  forgottenAfterMs: 60_000,
};

/** The default maximum number of waiting refusal events. At about 0.7 kB each, they use 11 MB of Redis. */
export const defaultMostRefusalEvents = 16_000;
