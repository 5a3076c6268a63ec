import { Router } from 'express';

/** A router that matches paths as they are written: `/SecureLaunch` and a trailing slash are other paths. */
export function createRouter(): Router {
  return Router({ caseSensitive: true, strict: true });
}
