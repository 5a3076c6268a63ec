import { createHash } from 'node:crypto';

/** 64 to 128 random bytes are 86 to 171 characters of Base64URL, more than the 128 of RFC 7636 section 4.1. */
const verifierForm = /^[A-Za-z0-9._~-]{43,256}$/;
const base64UrlForm = /^[A-Za-z0-9_-]+$/;

/**
 * The challenges that a verifier proves: the hash of its text (RFC 7636 section 4.6) and, since "random bytes, then
 * Base64URL" can also be read so, the hash of the bytes it encodes. None for text that is no verifier.
 */
export function challengesOf(codeVerifier: string): string[] {
  if (!verifierForm.test(codeVerifier)) return [];
  const ofText = sha256(codeVerifier);
  return base64UrlForm.test(codeVerifier)
    ? [ofText, sha256(Buffer.from(codeVerifier, 'base64url'))]
    : [ofText];
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('base64url');
