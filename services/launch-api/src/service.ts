import type { DirectRoute } from '@clinical-launch/http/direct-routes';
import { problemDialect } from '@clinical-launch/http/errors';
import { directEndpoint, endpoint, openToAll } from '@clinical-launch/http/exchange';
import { createRouter } from '@clinical-launch/http/router';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { AccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import type { Directories } from '@clinical-launch/trust/directory-file';
import type { LaunchApiConfig } from './config.ts';
import { addresses } from './http/addresses.ts';
import { auditRefusal, createLaunchCheck } from './http/check-launch.ts';
import { requestLaunchUrl } from './http/request-launch-url.ts';
import { validate } from './http/validate.ts';
import { createLaunchCounts } from './metrics.ts';
import { publishedDocuments } from './openapi/published-documents.ts';

export type LaunchApiDependencies = {
  readonly tickets: Tickets;
  readonly tokens: AccessTokenVerifier;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
  /** The agreed values; without them every value is accepted. */
  readonly directories?: Directories;
};

/**
 * Creates the launch API, which issues launch URLs to the backends of practice management systems. Answers
 * below `/AccessApi`.
 */
export function launchApi(
  config: LaunchApiConfig,
  { tickets, tokens, limiter, clock, directories }: LaunchApiDependencies,
): Service {
  const check = createLaunchCheck(config, { tokens, clock, limiter, directories });
  const shared = { source: '/launch-api', dialect: problemDialect(config), open: openToAll };
  const counts = createLaunchCounts();
  const request = requestLaunchUrl(config, { tickets, check, clock, onIssued: counts.issued });
  const launch = directEndpoint({
    ...shared,
    audit: auditRefusal(),
    methods: { POST: counts.countingRefusals(request) },
  });
  const router = createRouter();
  router.all(addresses.requestLaunchUrl, launch);
  router.all(
    addresses.validate,
    endpoint({ ...shared, audit: auditRefusal('validate'), methods: { POST: validate(check) } }),
  );
  for (const [path, send] of Object.entries(publishedDocuments(config))) {
    router.all(path, endpoint({ ...shared, methods: { GET: send, HEAD: send } }));
  }
  const direct: DirectRoute = { method: 'POST', path: addresses.requestLaunchUrl, answer: launch.direct };
  return { name: 'launch-api', router, direct: [direct] };
}
