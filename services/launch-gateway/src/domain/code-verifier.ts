import { hash } from 'node:crypto';
import { launchVerifierForm } from '@clinical-launch/contracts';

const verifierForm = new RegExp(`^${launchVerifierForm}$`);
const base64UrlForm = /^[A-Za-z0-9_-]+$/;

/**
 * The challenges that a verifier proves: the hash of its text (RFC 7636 section 4.6) and, since "random bytes, then
 * Base64URL" can also be read so, the hash of the bytes it encodes. A verifier with the padding of RFC 4648 section 5
 * proves the hash of its text with and without it. None for text that is no verifier.
 */
export function challengesOf(codeVerifier: string): string[] {
  const text = withoutPadding(codeVerifier);
  if (!verifierForm.test(text)) return [];
  const ofText = sha256(text);
  if (!base64UrlForm.test(text)) return text === codeVerifier ? [ofText] : [];
  const ofBytes = sha256(Buffer.from(text, 'base64url'));
  return text === codeVerifier ? [ofText, ofBytes] : [sha256(codeVerifier), ofText, ofBytes];
}

/** The text itself where what follows it is not the padding that its length asks for. */
function withoutPadding(text: string): string {
  return text.length % 4 === 0 ? text.replace(/={1,2}$/, '') : text;
}

const sha256 = (data: string | Buffer) => hash('sha256', data, 'base64url');
