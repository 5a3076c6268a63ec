/**
 * Returns the address of the endpoints of a realm, as clients reach them. @param publicUrl origin of the
 * platform
 */
export function realmUrl(publicUrl: string, realm: string): string {
  return `${publicUrl}/idp/${realm}`;
}

/** Returns the issuer of a realm, exactly as its tokens contain it. */
export function issuerOf(publicUrl: string, realm: string): string {
  return `${realmUrl(publicUrl, realm)}/v2.0`;
}

/** The path of a realm's public keys (RFC 7517 section 5), below the address of the realm. */
export const keysPath = '/discovery/v2.0/keys';
