import type { Fault } from '@clinical-launch/contracts';

/** Where a caller may put the code challenge; each entry is one value that was sent. */
export type SentChallenges = readonly unknown[];

const path = 'Code-Challenge';

/**
 * Picks the code challenge (RFC 7636 section 4.2, S256) from everywhere it may travel.
 * @returns the challenge, or the fault: none was sent, two differ, or it is not 43 characters of Base64URL.
 */
export function chooseCodeChallenge(sent: SentChallenges): { challenge: string } | { fault: Fault } {
  const [challenge, ...others] = new Set(sent);
  if (challenge === undefined) {
    return { fault: { path, message: 'is required: send the PKCE code challenge in this header' } };
  }
  if (others.length > 0)
    return { fault: { path, message: 'was sent more than once, with different values' } };
  if (typeof challenge !== 'string' || !/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
    return {
      fault: { path, message: 'must be the SHA-256 of the verifier: 43 characters of Base64URL, no padding' },
    };
  }
  return { challenge };
}

/** `plain` (RFC 7636 section 4.3) would put the verifier itself into the request. */
export function challengeMethodFault(sent: readonly unknown[]): Fault[] {
  return sent.some((method) => method !== 'S256')
    ? [{ path: 'code_challenge_method', message: 'must be S256' }]
    : [];
}
