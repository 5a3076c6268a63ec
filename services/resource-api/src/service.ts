import type { Sealers } from '@clinical-launch/contracts/sealing-purposes';
import type { Clock } from '@clinical-launch/service/clock';
import { allowAnyOrigin } from '@clinical-launch/service/http/cross-origin';
import { oauthDialect } from '@clinical-launch/service/http/errors';
import { endpoint, openToAll } from '@clinical-launch/service/http/exchange';
import type { RateLimiter } from '@clinical-launch/service/http/rate-limit';
import { createRouter } from '@clinical-launch/service/http/router';
import type { Service } from '@clinical-launch/service/process/service';
import type { AccessTokenVerifier } from '@clinical-launch/service/trust/access-tokens';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { ResourceApiConfig } from './config.ts';
import { resources } from './domain/resources.ts';
import { auditRefusal, getResource } from './http/get-resource.ts';
import { createRevocations } from './store/revocations.ts';

export type ResourceApiDependencies = {
  /** Accepts only the tokens of desktop realms. */
  readonly tokens: AccessTokenVerifier;
  readonly tickets: Pick<Tickets, 'isChainRevoked' | 'useChain'>;
  /** Opens the launch's context, which is sealed in the access token. */
  readonly sealers: Pick<Sealers, 'access-token'>;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
};

/**
 * Creates the resource API, which partner applications read for the user of a desktop launch. Answers below
 * `/resource`.
 */
export function resourceApi(config: ResourceApiConfig, backing: ResourceApiDependencies): Service {
  const { tickets, clock, sealers } = backing;
  const sealer = sealers['access-token'];
  const revocations = createRevocations(tickets, clock);
  const router = createRouter();
  for (const resource of resources) {
    const get = getResource(resource, config, { ...backing, sealer, revocations });
    router.all(
      `/resource/${resource.name}`,
      allowAnyOrigin('GET'),
      endpoint({
        source: '/resource-api',
        dialect: oauthDialect,
        audit: auditRefusal(resource),
        open: openToAll,
        methods: { GET: get, HEAD: get },
      }),
    );
  }
  return { name: 'resource-api', router };
}
