import { issuerOf, realmUrl } from '@clinical-launch/contracts/addresses';
import { asymmetricAlgorithms } from '@clinical-launch/contracts/client-authentication';
import { fhirResourceTypes } from '@clinical-launch/contracts/token-context';
import { sendJson, sendText } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import type { ErrorDialect } from '@clinical-launch/http/errors';
import type { RegistrySource } from '@clinical-launch/trust/registry-file';
import type { ResourceApiConfig } from '../config.ts';
import { ukCoreProfile } from '../domain/fhir-resources.ts';
import { addressOf, desktopRealmOf, realmOf } from './addresses.ts';

/**
 * The prefix of a resource's path at which the metadata of the resource is published (RFC 9728 section 3).
 */
export const metadataPath = '/.well-known/oauth-protected-resource';

/**
 * Publishes how clients authorize at a protected resource: `GET
 * /.well-known/oauth-protected-resource/{path of the resource}` (RFC 9728 section 2). Clients compare
 * `resource` with the address that they requested, so each resource has its own document.
 */
export function getResourceMetadata(
  path: string,
  { publicUrl, clientCertificateHeader }: ResourceApiConfig,
  { registry }: { readonly registry: RegistrySource },
): Handler {
  return (exchange) => {
    const { response } = exchange;
    const realms =
      realmOf(exchange) === undefined
        ? registry.current().realms.flatMap(({ realm, desktop }) => (desktop === undefined ? [] : [realm]))
        : [desktopRealmOf(exchange, registry)];
    response.setHeader('Cache-Control', 'public, max-age=300');
    sendJson(response, {
      resource: addressOf(path, publicUrl, exchange),
      authorization_servers: realms.map((realm) => issuerOf(publicUrl, realm)),
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: asymmetricAlgorithms,
      dpop_bound_access_tokens_required: false,
      tls_client_certificate_bound_access_tokens: clientCertificateHeader !== undefined,
    });
  };
}

/** Matches a path whose characters need no escape in a quoted string (RFC 9110 section 5.6.4). */
const plainPath = /^\/[\w\-.~%/]*(?=\?|$)/;

/**
 * Returns a dialect that adds the address of the resource's metadata to each challenge of a 401 (RFC 9728
 * section 5.1).
 */
export function withResourceMetadata(dialect: ErrorDialect, publicUrl: string): ErrorDialect {
  return (error, exchange) => {
    const { request, response } = exchange;
    const challenges = response.getHeader('WWW-Authenticate');
    const [path] = plainPath.exec(request.url ?? '') ?? [];
    if (error.status === 401 && typeof challenges === 'string' && path !== undefined) {
      const parameter = `resource_metadata="${publicUrl}${metadataPath}${path}"`;
      // If the request has no token, `challenges` contains the challenges of Bearer and DPoP.
      const first = challenges.replace(/^Bearer,/, `Bearer ${parameter},`);
      response.setHeader('WWW-Authenticate', `${first}, ${parameter}`);
    }
    dialect(error, exchange);
  };
}

/**
 * Publishes what the FHIR base of a realm offers: `GET {issuer}/metadata` (FHIR R4 RESTful API,
 * capabilities). Answers 404 for a realm without desktop launches.
 */
export function getCapabilityStatement(
  { publicUrl }: Pick<ResourceApiConfig, 'publicUrl'>,
  { registry }: { readonly registry: RegistrySource },
): Handler {
  return (exchange) => {
    const { response } = exchange;
    const statement = capabilityStatement(publicUrl, desktopRealmOf(exchange, registry));
    response.setHeader('Cache-Control', 'public, max-age=300');
    sendText(response, 'application/fhir+json', JSON.stringify(statement));
  };
}

/** The date of the last change of the statement. FHIR requires this date. */
const changed = '2026-11-28';

const idParameter = {
  name: '_id',
  definition: 'http://hl7.org/fhir/SearchParameter/Resource-id',
  type: 'token',
};

/**
 * Returns the capability statement of a realm's FHIR base (FHIR R4, CapabilityStatement). Older libraries for
 * SMART read the addresses of the identity provider from the extension `oauth-uris`.
 */
function capabilityStatement(publicUrl: string, realm: string) {
  const issuer = issuerOf(publicUrl, realm);
  const oauth = `${realmUrl(publicUrl, realm)}/oauth2/v2.0`;
  const addresses = {
    authorize: `${oauth}/authorize`,
    token: `${oauth}/token`,
    revoke: `${oauth}/revoke`,
    introspect: `${oauth}/introspect`,
  };
  return {
    resourceType: 'CapabilityStatement',
    status: 'active',
    date: changed,
    kind: 'instance',
    software: { name: 'Clinical Launch' },
    implementation: {
      description: 'The user, the organisation and the patient of a desktop launch',
      url: issuer,
    },
    fhirVersion: '4.0.1',
    format: ['application/fhir+json'],
    rest: [
      {
        mode: 'server',
        security: {
          extension: [
            {
              url: 'http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris',
              extension: Object.entries(addresses).map(([url, valueUri]) => ({ url, valueUri })),
            },
          ],
          cors: true,
          service: [
            {
              coding: [
                {
                  system: 'http://terminology.hl7.org/CodeSystem/restful-security-service',
                  code: 'SMART-on-FHIR',
                },
              ],
            },
          ],
          description: `SMART App Launch 2.2. Clients configure themselves from ${issuer}/.well-known/smart-configuration`,
        },
        resource: fhirResourceTypes.map((type) => ({
          type,
          supportedProfile: [ukCoreProfile(type)],
          interaction: [{ code: 'read' }, ...(type === 'Patient' ? [{ code: 'search-type' }] : [])],
          ...(type === 'Patient' ? { searchParam: [idParameter] } : {}),
        })),
      },
    ],
  };
}
