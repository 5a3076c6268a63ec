import { fhirResourceTypes } from '@clinical-launch/contracts/token-context';
import type { Sealers } from '@clinical-launch/crypto/sealing-purposes';
import { endpoint, type Handler } from '@clinical-launch/http/endpoint';
import { type ErrorDialect, fhirDialect, oauthDialect, ServiceError } from '@clinical-launch/http/errors';
import { publishDocument } from '@clinical-launch/http/published-document';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Chains } from '@clinical-launch/tickets/chains';
import type { AccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import type { RegistrySource } from '@clinical-launch/trust/registry-file';
import type { ResourceApiConfig } from './config.ts';
import { fhirResources, issuerPath, launchResources, type Resource } from './domain/resources.ts';
import { auditRefusal, getResource } from './http/get-resource.ts';
import {
  getCapabilityStatement,
  getResourceMetadata,
  metadataPath,
  withResourceMetadata,
} from './http/get-resource-metadata.ts';
import { createRevocations } from './store/revocations.ts';

export type ResourceApiDependencies = {
  /** Accepts only tokens of desktop realms. */
  readonly tokens: AccessTokenVerifier;
  readonly chains: Pick<Chains, 'isRevoked' | 'use'>;
  /** The sealer that decrypts the launch context in the access token. */
  readonly sealers: Pick<Sealers, 'access-token'>;
  readonly limiter: RateLimiter;
  /** The registry, whose desktop realms have a FHIR base. */
  readonly registry: RegistrySource;
  readonly clock: Clock;
};

/**
 * Creates the resource API, which partner applications call for the user of a desktop launch. Its endpoints
 * are below `/resource`, and the FHIR resources are below the issuer of each desktop realm.
 */
export function resourceApi(config: ResourceApiConfig, provided: ResourceApiDependencies): Service {
  const { chains, clock, sealers } = provided;
  const sealer = sealers['access-token'];
  const revocations = createRevocations(chains, clock);
  const inFhir = fhirResources(config.namespaces.nhs);
  const endpointOf = (resource: Resource, dialect: ErrorDialect) => {
    const get = getResource(resource, config, { ...provided, sealer, revocations });
    return endpoint({
      ...published,
      path: resource.path,
      dialect: withResourceMetadata(dialect, config.publicUrl),
      methods: { GET: get, HEAD: get, ...(resource.acceptsPost ? { POST: get } : {}) },
      audit: auditRefusal(resource),
    });
  };
  const documentAt = (path: string, dialect: ErrorDialect, describe: Handler) =>
    endpoint({ ...published, path, dialect, methods: { GET: describe, HEAD: describe } });
  const withMetadata = [issuerPath, ...[...launchResources, ...inFhir].map(({ path }) => path)];
  return {
    name: 'resource-api',
    endpoints: [
      ...launchResources.map((resource) => endpointOf(resource, oauthDialect)),
      ...inFhir.map((resource) => endpointOf(resource, fhirDialect)),
      documentAt(`${issuerPath}/metadata`, fhirDialect, getCapabilityStatement(config, provided)),
      ...withMetadata.map((path) =>
        documentAt(metadataPath + path, oauthDialect, getResourceMetadata(path, config, provided)),
      ),
      documentAt('/resource/openapi.json', oauthDialect, describeApi),
    ],
    // Other interactions are not offered.
    edges: fhirResourceTypes.map((name) => ({
      path: `${issuerPath}/${name}`,
      dialect: fhirDialect,
      notFound: () =>
        new ServiceError({
          code: 'not_found',
          message: 'Read a resource by its id. Nothing else exists here',
        }),
    })),
  };
}

/** The options of every endpoint. Pages of any origin may call it. */
const published = { source: '/resource-api', anyOrigin: true };

/**
 * Returns the description of the API: `GET /resource/openapi.json`. The first request creates the
 * description.
 */
const describeApi = publishDocument({
  contentType: 'application/json',
  make: async () => JSON.stringify((await import('./openapi/document.ts')).resourceApiDocument()),
});
