import type { Clock } from '@clinical-launch/service';
import {
  createRateLimiter,
  createRouter,
  type DirectRoute,
  errorEdge,
  onlyMethods,
  problemDialect,
  type RateLimiter,
  type RefusalAudit,
  type Service,
} from '@clinical-launch/service/http';
import type { AccessTokenVerifier, Directories } from '@clinical-launch/service/trust';
import type { Tickets } from '@clinical-launch/tickets';
import type { RequestHandler } from 'express';
import type { LaunchApiConfig } from './config.ts';
import { addresses } from './http/addresses.ts';
import { auditRefusal, countAddress, createLaunchCheck } from './http/check-launch.ts';
import { publishedDocuments } from './http/published-documents.ts';
import { requestLaunchUrl } from './http/request-launch-url.ts';
import { validate } from './http/validate.ts';

export type LaunchApiBacking = {
  readonly tickets: Tickets;
  readonly tokens: AccessTokenVerifier;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  /** The values that were agreed; without it every value is accepted. */
  readonly directories?: Directories;
};

/** The launch API: hands launch URLs to the backends of practice management systems. Answers below `/AccessApi`. */
export function launchApi(
  config: LaunchApiConfig,
  { tickets, tokens, limiter, clock, directories }: LaunchApiBacking,
): Service {
  const router = createRouter();
  const callers = createRateLimiter(clock);
  const check = createLaunchCheck(config, { tokens, clock, limiter, addresses: callers, directories });
  const dialect = problemDialect({ isProduction: config.isProduction });
  const serve = (path: string, handler: RequestHandler, audit: RefusalAudit): DirectRoute => {
    const onError = errorEdge({ dialect, audit });
    router.route(path).post(handler).all(onlyMethods('POST'), onError);
    return { method: 'POST', path, handler, onError };
  };
  const launch = requestLaunchUrl(config, { tickets, check });
  const direct = [serve(addresses.requestLaunchUrl, launch, auditRefusal())];
  serve(addresses.validate, validate(check), auditRefusal('validate'));
  const count: RequestHandler = (request, _response, next) => {
    countAddress(config, callers, request);
    next();
  };
  for (const [path, document] of Object.entries(publishedDocuments(config))) {
    router.route(path).get(count, document).all(onlyMethods('GET', 'HEAD'), errorEdge({ dialect }));
  }
  return { name: 'launch-api', router, direct };
}
