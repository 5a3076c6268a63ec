import { createHash, randomBytes } from 'node:crypto';

/**
 * A PKCE pair (RFC 7636, S256). Send the code challenge with the request. Keep the code verifier on the
 * server until you send the launch URL to the browser.
 */
export type PkcePair = { readonly codeVerifier: string; readonly codeChallenge: string };

/**
 * Creates a code verifier of 64 random bytes (OLTR: Limits) and its code challenge. Create a new pair for
 * each launch.
 */
export function createPkcePair(): PkcePair {
  const codeVerifier = randomBytes(64).toString('base64url');
  return { codeVerifier, codeChallenge: createHash('sha256').update(codeVerifier).digest('base64url') };
}
