import type { RefusalType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';

/** A request that is about to be refused. */
export type RefusedRequest = {
  /** The audit event, if the refusal has one. */
  readonly event: CloudEvent<RefusalType> | undefined;
  readonly address: string | undefined;
  /** The verified caller, whose refusals are counted separately from its address. */
  readonly identity: string | undefined;
  /** Whether both the caller and the launch are unknown: such events are combined. */
  readonly isAnonymous: boolean;
  /** Whether it counts against its address. */
  readonly isCounted: boolean;
};

/** Counts and audits the refusals of one process. Accepted requests never reach it. */
export type Refusals = {
  /** Records a refusal. Resolves with the milliseconds until its address is within the limit; 0 within it. */
  record(refused: RefusedRequest): Promise<{ readonly overForMs: number }>;
  /** Stores the events that are still being combined, and stops. */
  stop(): Promise<void>;
};
