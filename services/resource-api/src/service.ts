import type { Sealers } from '@clinical-launch/crypto/sealing-purposes';
import { endpoint } from '@clinical-launch/http/endpoint';
import { oauthDialect } from '@clinical-launch/http/errors';
import { publishDocument } from '@clinical-launch/http/published-document';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { AccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import type { ResourceApiConfig } from './config.ts';
import { resources } from './domain/resources.ts';
import { auditRefusal, getResource } from './http/get-resource.ts';
import { createRevocations } from './store/revocations.ts';

export type ResourceApiDependencies = {
  /** Accepts only tokens of desktop realms. */
  readonly tokens: AccessTokenVerifier;
  readonly tickets: Pick<Tickets, 'isChainRevoked' | 'useChain'>;
  /** The sealer that decrypts the launch context in the access token. */
  readonly sealers: Pick<Sealers, 'access-token'>;
  readonly limiter: RateLimiter;
  readonly clock: Clock;
};

/**
 * Creates the resource API, which partner applications call for the user of a desktop launch. Its endpoints
 * are below `/resource`.
 */
export function resourceApi(config: ResourceApiConfig, backing: ResourceApiDependencies): Service {
  const { tickets, clock, sealers } = backing;
  const sealer = sealers['access-token'];
  const revocations = createRevocations(tickets, clock);
  const endpoints = resources.map((resource) => {
    const get = getResource(resource, config, { ...backing, sealer, revocations });
    return endpoint({
      path: `/resource/${resource.name}`,
      source: '/resource-api',
      dialect: oauthDialect,
      anyOrigin: true,
      methods: { GET: get, HEAD: get },
      audit: auditRefusal(resource),
    });
  });
  return { name: 'resource-api', endpoints: [...endpoints, describedApi] };
}

/**
 * Returns the description of the API: `GET /resource/openapi.json`. The first request creates the
 * description.
 */
const describe = publishDocument({
  contentType: 'application/json',
  make: async () => JSON.stringify((await import('./openapi/document.ts')).resourceApiDocument()),
});
const describedApi = endpoint({
  path: '/resource/openapi.json',
  source: '/resource-api',
  dialect: oauthDialect,
  anyOrigin: true,
  methods: { GET: describe, HEAD: describe },
});
