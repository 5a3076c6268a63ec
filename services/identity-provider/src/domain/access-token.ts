import type { RegisteredClient } from '@clinical-launch/contracts/registry';
import { confirmationOf } from '../grants/bindings.ts';
import type { IssuingRealm } from './realms.ts';

/** The seconds by which verifiers' clocks may be behind ours. */
export const notBeforeSlackSeconds = 10;

/**
 * Returns the claims of a client's access token (RFC 9068 section 2.2). The rights are in `scope`, `scp` and
 * `roles`, because verifiers read different claims. The token of a client without rights has no `scope`.
 * @param now milliseconds since 1970
 */
export function accessTokenClaims({
  realm,
  client,
  audience,
  tokenId,
  certificate,
  now,
}: {
  realm: IssuingRealm;
  client: RegisteredClient;
  audience: string;
  tokenId: string;
  /** The thumbprint of the certificate that the token is bound to, if any. */
  certificate?: string | undefined;
  now: number;
}) {
  const issuedAt = Math.floor(now / 1000);
  return {
    iss: realm.issuer,
    sub: client.clientId,
    aud: audience,
    client_id: client.clientId,
    azp: client.clientId,
    jti: tokenId,
    iat: issuedAt,
    nbf: issuedAt - notBeforeSlackSeconds,
    exp: issuedAt + realm.accessTokenSeconds,
    // RFC 6749 section 3.3: a scope has at least one word.
    ...(client.scopes.length > 0 ? { scope: client.scopes.join(' ') } : {}),
    scp: client.scopes,
    roles: client.scopes,
    ...confirmationOf({ certificate }),
  };
}
