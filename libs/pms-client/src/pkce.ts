import { createHash, randomBytes } from 'node:crypto';

/** A PKCE pair (RFC 7636, S256): the verifier stays here until the launch, the challenge goes with the request. */
export type PkcePair = { readonly codeVerifier: string; readonly codeChallenge: string };

/** Draws a verifier of 64 random bytes (OLTR: Limits) and computes its challenge. */
export function createPkcePair(): PkcePair {
  const codeVerifier = randomBytes(64).toString('base64url');
  return { codeVerifier, codeChallenge: createHash('sha256').update(codeVerifier).digest('base64url') };
}
