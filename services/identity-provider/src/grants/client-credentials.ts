import { randomUUID } from 'node:crypto';
import type { Clock } from '@clinical-launch/runtime/clock';
import { accessTokenClaims } from '../domain/access-token.ts';
import { TokenRefusal } from '../errors.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { certificateToBind } from './bindings.ts';
import { type ClientGrant, type ClientRequest, describedGrants, type TokenAnswer } from './grant.ts';

type ClientCredentialsDependencies = {
  readonly audience: string;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
};

/** Returns the only scope that a client may request. The scope means all registered rights of the client. */
export function defaultScope(audience: string): string {
  return `${audience}/.default`;
}

/** The scopes of OpenID Connect, which MSAL for Java adds to every request of a client. */
const openIdScopes = new Set(['openid', 'profile', 'email', 'offline_access']);

/** Returns whether a scope asks for `wanted` and nothing else, apart from the scopes of OpenID Connect. */
function asksFor(wanted: string, scope: string): boolean {
  const words = scope.split(' ').filter((word) => word !== '' && !openIdScopes.has(word));
  return words.length > 0 && words.every((word) => word === wanted);
}

/**
 * Creates the client credentials grant, with which a client acts for itself (RFC 6749 section 4.4, OLTR:
 * Authentication). The answer repeats the requested scope, because clients cache a token under the scope of
 * the answer. The token contains the rights.
 */
export function clientCredentials({ audience, keyRing, clock }: ClientCredentialsDependencies): ClientGrant {
  const scope = defaultScope(audience);
  return {
    ...describedGrants.clientCredentials,
    async handle({ realm, client, parameters, call, commit, ...sent }: ClientRequest): Promise<TokenAnswer> {
      if (!asksFor(scope, parameters.get('scope') ?? ''))
        throw new TokenRefusal('wrong_scope', { parameter: 'scope', message: `must be ${scope}` });
      const tokenId = randomUUID();
      const certificate = certificateToBind(client, sent.certificate);
      const claims = accessTokenClaims({ realm, client, audience, tokenId, certificate, now: clock.now() });
      const signer = await keyRing.signer(realm);
      const token = signer.sign('at+jwt', claims);
      const issued = call.event('access.token.issued.v1', {
        realm: realm.name,
        clientId: client.clientId,
        tokenId,
        scope: client.scopes.join(' '),
        expiresInSeconds: realm.accessTokenSeconds,
      });
      // The event is stored before the answer is sent, so that the audit trail contains every issued token.
      await commit([issued]);
      return {
        access_token: token,
        token_type: 'Bearer',
        expires_in: realm.accessTokenSeconds,
        scope,
      };
    },
  };
}
