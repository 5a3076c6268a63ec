/**
 * The lifetime of a logout token in seconds, at most two minutes (OpenID Connect Back-Channel Logout 1.0
 * section 2.4).
 */
const lifeSeconds = 120;

/**
 * Returns the claims of a logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4). It identifies
 * the launch by `sid` and contains no user and no patient.
 * @param now milliseconds since 1970
 */
export function logoutTokenClaims(about: {
  readonly issuer: string;
  readonly clientId: string;
  readonly launchId: string;
  readonly tokenId: string;
  readonly now: number;
}) {
  const issuedAt = Math.floor(about.now / 1000);
  return {
    iss: about.issuer,
    aud: about.clientId,
    iat: issuedAt,
    exp: issuedAt + lifeSeconds,
    jti: about.tokenId,
    sid: about.launchId,
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  };
}
