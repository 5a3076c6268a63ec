import type { Consumer } from '@clinical-launch/events';
import { Router } from 'express';

/** What a service's factory returns: it opens no socket, reads no environment and knows no global. */
export type Service = {
  readonly name: string;
  readonly router: Router;
  readonly consumers?: readonly Consumer[];
  /** Prepares the service; it serves from then on. */
  start?(): Promise<void>;
  /** Ends what `start` began, after what is under way. */
  stop?(): Promise<void>;
};

/** A router that matches paths as they are written: `/SecureLaunch` and a trailing slash are other paths. */
export function createRouter(): Router {
  return Router({ caseSensitive: true, strict: true });
}
