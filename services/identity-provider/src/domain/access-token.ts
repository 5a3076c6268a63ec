import type { RegisteredClient } from '@clinical-launch/contracts/registry';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
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

/** The SHA-256 thumbprints of the key and the certificate that tokens are bound to. */
export type TokenBinding = {
  /** The key of a DPoP proof (RFC 9449). */
  readonly dpopKey: string | undefined;
  /** The client certificate of the connection (RFC 8705). */
  readonly certificate: string | undefined;
};

/**
 * Returns an object with the claim `cnf` of a bound token (RFC 7800 section 3.1). Returns an empty object for
 * an unbound token.
 */
export function confirmationOf({ dpopKey, certificate }: Partial<TokenBinding>) {
  if (dpopKey === undefined && certificate === undefined) return {};
  return {
    cnf: withoutUndefined({ jkt: dpopKey, 'x5t#S256': certificate }),
  };
}
