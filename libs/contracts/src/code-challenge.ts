/**
 * Returns whether the text is a code challenge of S256: the Base64URL text of 32 bytes (RFC 7636 section
 * 4.2). The last of its 43 characters contains four bits. A text whose two spare bits are set never equals
 * the challenge of a verifier.
 */
export function isCodeChallenge(text: string): boolean {
  return challengeForm.test(text);
}

/** The pattern of a code challenge for a JSON Schema. */
export const codeChallengePattern = '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$';
const challengeForm = new RegExp(codeChallengePattern);

/**
 * The pattern of the code verifier of a launch URL without its padding: 64 to 128 random bytes are 86 to 171
 * characters of Base64URL, more than the 128 of RFC 7636 section 4.1.
 */
export const launchVerifierForm = '[A-Za-z0-9._~-]{43,256}';
