import type { Consumer } from '@clinical-launch/events/event-bus';
import type { Mounted } from '@clinical-launch/http/app';

/**
 * A service, as its factory returns it. Factories open no socket, read no environment variable and use no
 * global.
 */
export type Service = Mounted & {
  readonly name: string;
  readonly consumers?: readonly Consumer[];
  /** Stops the background work of the service, after its current step. */
  stop?(): Promise<void>;
};
