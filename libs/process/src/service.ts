import type { Consumer } from '@clinical-launch/events/event-bus';
import type { Mounted } from '@clinical-launch/http/app';

/** The result of a service's factory, which opened no socket, read no environment and uses no global. */
export type Service = Mounted & {
  readonly name: string;
  readonly consumers?: readonly Consumer[];
  /** Stops the background work of the service, after its current step. */
  stop?(): Promise<void>;
};
