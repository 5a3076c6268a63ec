import type { DeliveryFailure } from '@clinical-launch/service/process';

/** Why an attempt failed; the words that operators and the audit trail see. */
export type FailureReason =
  | DeliveryFailure
  /** None of the client's secrets lives and can be opened here. */
  | 'no_usable_secret';

/** How long a document is tried from its first attempt on. */
export const tryForMs = 24 * 3_600_000;
