import type { CloudEvent, RefusalType } from '@clinical-launch/contracts';

/** A request that is about to be refused. */
export type RefusedRequest = {
  /** The audit event, if the refusal has one. */
  readonly event: CloudEvent<RefusalType> | undefined;
  readonly address: string | undefined;
  /** The verified caller: its refusals are its own, whatever else comes from its address. */
  readonly identity: string | undefined;
  /** Whether neither a caller nor a launch is known: such events are combined. */
  readonly isAnonymous: boolean;
  /** Whether it counts against its address. */
  readonly isCounted: boolean;
};

/** Counts and audits the refusals of one process. Accepted requests never come here. */
export type Refusals = {
  /** Records a refusal. Resolves with the milliseconds for which its address is over the limit; 0 within it. */
  record(refused: RefusedRequest): Promise<{ readonly overForMs: number }>;
  /** Keeps the events that are still being combined, and ends. */
  stop(): Promise<void>;
};
