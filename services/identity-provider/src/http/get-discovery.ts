import type { RequestHandler } from 'express';
import type { Realms } from '../domain/realms.ts';
import type { Grant } from '../grants/grant.ts';
import { clientAuthenticationMethods } from './client-credentials.ts';
import { type RealmParams, realmOfPath } from './realm-of-path.ts';

type DiscoveryParts = {
  readonly realms: Realms;
  readonly grants: readonly Grant[];
  readonly publicUrl: string;
  readonly scopes: readonly string[];
};

/**
 * `GET {issuer}/.well-known/openid-configuration` (OpenID Connect Discovery 1.0 section 3, RFC 8414 section 2): what
 * exists here and nothing else, with the lists that the standards require even where they are empty.
 */
export function getDiscovery({
  realms,
  grants,
  publicUrl,
  scopes,
}: DiscoveryParts): RequestHandler<RealmParams> {
  return (request, response) => {
    const { name, issuer, signingAlgorithm } = realmOfPath(realms, request.params);
    response.set('Cache-Control', 'public, max-age=300').json({
      issuer,
      token_endpoint: `${publicUrl}/idp/${name}/oauth2/v2.0/token`,
      jwks_uri: `${publicUrl}/idp/${name}/discovery/v2.0/keys`,
      grant_types_supported: grants.map(({ type }) => type),
      token_endpoint_auth_methods_supported: clientAuthenticationMethods,
      scopes_supported: scopes,
      response_types_supported: [],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [signingAlgorithm],
    });
  };
}
