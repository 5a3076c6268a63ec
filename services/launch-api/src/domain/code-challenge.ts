import { type Fault, isCodeChallenge } from '@clinical-launch/contracts';

/** Where a caller may put the code challenge; each entry is one value that was sent. */
export type SentChallenges = readonly unknown[];

const path = 'Code-Challenge';

/**
 * Picks the code challenge (RFC 7636 section 4.2, S256) from everywhere it may travel.
 * @returns the challenge, or the fault: none was sent, two differ, or it is not the Base64URL text of a SHA-256.
 */
export function chooseCodeChallenge(sent: SentChallenges): { challenge: string } | { fault: Fault } {
  const [challenge, ...others] = new Set(sent);
  if (challenge === undefined) {
    const message = 'is required: send the PKCE code challenge in this header';
    return { fault: { path, message, code: 'required' } };
  }
  if (others.length > 0) {
    const message = 'was sent more than once, with different values';
    return { fault: { path, message, code: 'duplicate' } };
  }
  if (typeof challenge !== 'string' || !isCodeChallenge(challenge)) {
    const message = 'must be the SHA-256 of the verifier: 43 characters of Base64URL, no padding';
    return { fault: { path, message, code: 'value' } };
  }
  return { challenge };
}

/** `plain` (RFC 7636 section 4.3) would put the verifier itself into the request. */
export function challengeMethodFault(sent: readonly unknown[]): Fault[] {
  return sent.some((method) => method !== 'S256')
    ? [{ path: 'code_challenge_method', message: 'must be S256', code: 'code-invalid' }]
    : [];
}
