import type { Logger } from '@clinical-launch/runtime/logger';
import type { RequestHandler, Router } from 'express';
import type { AuditPagesConfig } from '../../pages-config.ts';
import type { PagesDependencies } from './visit.ts';

type Given = Omit<PagesDependencies, 'config' | 'pages' | 'write'> & { readonly logger: Logger };

/**
 * Serves the pages below `/audit/`. They are loaded with their first request, because the log needs none of
 * them to start. Without a configuration there are no pages, and one line of the log says so.
 */
export function pagesOnDemand(config: AuditPagesConfig | undefined, given: Given): RequestHandler {
  if (config === undefined) {
    given.logger.info('there are no pages at /audit/, because AUDIT_OIDC_ISSUER is not set');
    return (_request, _response, next) => next();
  }
  let loading: Promise<Router> | undefined;
  return async (request, response, next) => {
    if (request.path !== '/audit' && !request.path.startsWith('/audit/')) return next();
    loading ??= import('./routes.ts').then(({ createPagesRouter }) =>
      createPagesRouter({ ...given, config }),
    );
    (await loading)(request, response, next);
  };
}
