import type { Fault } from '@clinical-launch/contracts/fault';
import { isCodeChallenge } from '@clinical-launch/contracts/formats';

/** The values from all places in which a caller may send the code challenge. */
export type SentChallenges = readonly unknown[];

const path = 'Code-Challenge';

/**
 * Returns the code challenge (RFC 7636 section 4.2, S256) from any of its places.
 * @returns the challenge, or a fault if it is missing, was sent with different values, or is not a SHA-256 in
 * Base64URL
 */
export function chooseCodeChallenge(sent: SentChallenges): { challenge: string } | { fault: Fault } {
  const [challenge, ...others] = new Set(sent);
  if (challenge === undefined) {
    const message = 'is required. Send the PKCE code challenge in this header';
    return { fault: { path, message, code: 'required' } };
  }
  if (others.length > 0) {
    const message = 'was sent more than once, with different values. Send one value';
    return { fault: { path, message, code: 'duplicate' } };
  }
  if (typeof challenge !== 'string' || !isCodeChallenge(challenge)) {
    const message = 'must be the SHA-256 of the verifier in Base64URL: 43 characters without padding';
    return { fault: { path, message, code: 'value' } };
  }
  return { challenge };
}

/** Returns a fault for the method `plain` (RFC 7636 section 4.3), which would send the verifier itself. */
export function challengeMethodFault(sent: readonly unknown[]): Fault[] {
  return sent.some((method) => method !== 'S256')
    ? [{ path: 'code_challenge_method', message: 'must be S256', code: 'code-invalid' }]
    : [];
}
