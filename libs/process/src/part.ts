import type { Clock } from '@clinical-launch/runtime/clock';
import type { Environment } from '@clinical-launch/runtime/environment';
import type { Logger } from '@clinical-launch/runtime/logger';
import type { EventKeys } from './event-keys.ts';

/** A part that runs until it is stopped. */
export type RunningPart = {
  /** Readiness checks, by the name under which `/readyz` shows them. */
  readonly checks: Readonly<Record<string, () => Promise<boolean>>>;
  stop(): Promise<void>;
};

/** What every part is opened with. */
export type PartOptions = {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What the connections are called at the other end. */
  readonly name: string;
  /** Signs events where they leave the process, and proves those that come. */
  readonly eventKeys: EventKeys;
};
