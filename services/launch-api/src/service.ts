import type { Outbox } from '@clinical-launch/events';
import {
  type AccessTokenVerifier,
  type Clock,
  createRateLimiter,
  createRouter,
  errorEdge,
  onlyMethods,
  problemDialect,
  type Service,
} from '@clinical-launch/service';
import type { Tickets } from '@clinical-launch/tickets';
import type { LaunchApiConfig } from './config.ts';
import { auditRefusal, requestLaunchUrl } from './http/request-launch-url.ts';

export type LaunchApiBacking = {
  readonly tickets: Tickets;
  readonly events: Outbox;
  readonly tokens: AccessTokenVerifier;
  readonly clock: Clock;
};

/** The launch API: hands launch URLs to the backends of practice management systems. Answers below `/AccessApi`. */
export function launchApi(
  config: LaunchApiConfig,
  { tickets, events, tokens, clock }: LaunchApiBacking,
): Service {
  const router = createRouter();
  const backing = { tickets, events, tokens, limiter: createRateLimiter(clock) };
  router.post('/AccessApi/RequestLaunchUrl', requestLaunchUrl(config, backing));
  router.all('/AccessApi/RequestLaunchUrl', onlyMethods('POST'));
  router.use(
    errorEdge({
      dialect: problemDialect({ isProduction: config.isProduction }),
      audit: auditRefusal(events),
    }),
  );
  return { name: 'launch-api', router };
}
