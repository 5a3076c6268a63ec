/**
 * Whether the text is a code challenge of S256: the Base64URL text of 32 bytes (RFC 7636 section 4.2). The last of its
 * 43 characters carries four bits. A text whose two spare bits are set would never equal the challenge of a verifier.
 */
export function isCodeChallenge(text: string): boolean {
  return /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(text);
}
