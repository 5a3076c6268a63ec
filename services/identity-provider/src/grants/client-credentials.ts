import { randomUUID } from 'node:crypto';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
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

/**
 * Creates the client credentials grant, with which a client acts for itself (RFC 6749 section 4.4, OLTR:
 * Authentication).
 */
export function clientCredentials({ audience, keyRing, clock }: ClientCredentialsDependencies): ClientGrant {
  return {
    ...describedGrants.clientCredentials,
    async handle({ realm, client, parameters, call, commit, ...sent }: ClientRequest): Promise<TokenAnswer> {
      if (parameters.get('scope') !== defaultScope(audience)) throw new TokenRefusal('wrong_scope');
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
        ...withoutUndefined({ scope: claims.scope }),
      };
    },
  };
}
