import { Router } from 'express';

/** Creates a router that matches paths exactly: `/SecureLaunch` and a trailing slash are different paths. */
export function createRouter(): Router {
  return Router({ caseSensitive: true, strict: true });
}
