import type { RefusalType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';

export type RefusedRequest = {
  /** The audit event of the refusal, if the refusal must be audited. */
  readonly event: CloudEvent<RefusalType> | undefined;
  readonly address: string | undefined;
  /** The verified caller. Its refusals are not counted for its address. */
  readonly identity: string | undefined;
  /** True if both the caller and the launch are unknown. Events of such refusals are combined. */
  readonly isAnonymous: boolean;
  /** True if the refusal counts towards the limit of the address. */
  readonly isCounted: boolean;
};

/** Counts and audits the refusals of one process. It is not called for accepted requests. */
export type Refusals = {
  /**
   * Records a refusal. If the address exceeds its limit, resolves with the milliseconds until the address is
   * within the limit again.
   */
  record(refused: RefusedRequest): Promise<{ readonly overForMs: number }>;
  /** Stores the combined events that have not been stored yet, and stops. */
  stop(): Promise<void>;
};
