import { issuerOf } from '@clinical-launch/contracts/addresses';
import { asymmetricAlgorithms } from '@clinical-launch/contracts/client-authentication';
import { sendJson } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import type { ErrorDialect } from '@clinical-launch/http/errors';
import type { RegistrySource } from '@clinical-launch/trust/registry-file';
import type { ResourceApiConfig } from '../config.ts';
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
