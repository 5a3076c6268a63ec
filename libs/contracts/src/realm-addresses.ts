/** Returns where the endpoints of a realm are, as clients reach them. @param publicUrl origin of the platform */
export function realmUrl(publicUrl: string, realm: string): string {
  return `${publicUrl}/idp/${realm}`;
}

/** Returns the issuer of a realm, written the one way that its tokens carry. */
export function issuerOf(publicUrl: string, realm: string): string {
  return `${realmUrl(publicUrl, realm)}/v2.0`;
}

/** The path of a realm's public keys (RFC 7517 section 5), below the address of the realm. */
export const keysPath = '/discovery/v2.0/keys';
