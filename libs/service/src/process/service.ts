import type { Consumer } from '@clinical-launch/events';
import type { Mounted } from '../http/server.ts';

/** What a service's factory returns: it opened no socket, read no environment and knows no global. */
export type Service = Mounted & {
  readonly name: string;
  readonly consumers?: readonly Consumer[];
  /** Stops what the service runs in the background, after what is under way. */
  stop?(): Promise<void>;
};
