import type { DeliveryFailure } from '@clinical-launch/deliveries/delivery-retry';

/** Why an attempt failed, in the words that operators and the audit trail read. */
export type FailureReason =
  | DeliveryFailure
  /** None of the client's secrets is live and can be opened here. */
  | 'no_usable_secret';

/** Milliseconds in which a document is retried, from its first attempt on. */
export const tryForMs = 24 * 3_600_000;
