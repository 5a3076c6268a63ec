import type { Consumer } from '@clinical-launch/events';
import { type RequestHandler, Router } from 'express';
import type { DirectRoute } from './direct-routes.ts';
import { ServiceError } from './errors.ts';

/** What a service's factory returns: it opens no socket, reads no environment and knows no global. */
export type Service = {
  readonly name: string;
  readonly router: Router;
  /** The routes of the launch path, which the router has as well. Only for a service that is mounted at `/`. */
  readonly direct?: readonly DirectRoute[];
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

/** Refuses every method that the routes before it did not take: 405 with `Allow` (RFC 9110 section 15.5.6). */
export function onlyMethods(...methods: string[]): RequestHandler {
  return () => {
    throw new ServiceError({
      status: 405,
      code: 'method_not_allowed',
      message: `Use ${methods.join(' or ')} here`,
      headers: { Allow: methods.join(', ') },
    });
  };
}
