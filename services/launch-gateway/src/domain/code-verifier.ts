import { hash } from 'node:crypto';
import { launchVerifierForm } from '@clinical-launch/contracts/formats';

const verifierForm = new RegExp(`^${launchVerifierForm}$`);
const base64UrlForm = /^[A-Za-z0-9_-]+$/;

/**
 * Returns the challenges that match a verifier: the hash of its text (RFC 7636 section 4.6) and the hash of
 * the bytes that it encodes. The specification ("random bytes, then Base64URL") can be read both ways. A
 * verifier with padding (RFC 4648 section 5) matches the hash of its text with and without the padding.
 * Returns no challenge for an invalid verifier.
 */
export function challengesOf(codeVerifier: string): string[] {
  const isPadded = codeVerifier.length % 4 === 0;
  const text = isPadded ? codeVerifier.replace(/={1,2}$/, '') : codeVerifier;
  if (!verifierForm.test(text)) return [];
  const ofText = sha256(text);
  if (!base64UrlForm.test(text)) return text === codeVerifier ? [ofText] : [];
  const ofBytes = sha256(Buffer.from(text, 'base64url'));
  return text === codeVerifier ? [ofText, ofBytes] : [sha256(codeVerifier), ofText, ofBytes];
}

const sha256 = (data: string | Buffer) => hash('sha256', data, 'base64url');
