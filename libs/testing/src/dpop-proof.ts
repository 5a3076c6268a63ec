import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, SignJWT } from 'jose';
import type { TestClock } from './test-clock.ts';
import type { TestKey } from './token-issuer.ts';

type ProofOptions = {
  readonly key: TestKey;
  readonly clock: TestClock;
  readonly method: string;
  readonly url: string;
  /** The access token that is sent with the proof. */
  readonly token?: string;
  /** Claims that replace the valid claims; an undefined claim is omitted. */
  readonly claims?: Record<string, unknown>;
  readonly header?: Record<string, unknown>;
};

/** Returns a DPoP proof (RFC 9449 section 4.2) that is valid except for the changes of the test. */
export function makeDpopProof({ key, clock, method, url, token, ...changes }: ProofOptions): Promise<string> {
  const { alg = 'ES256', kid: _kid, use: _use, ...jwk } = key.publicJwk;
  const ath = token === undefined ? undefined : createHash('sha256').update(token).digest('base64url');
  const iat = Math.floor(clock.now() / 1000);
  return new SignJWT({ jti: randomUUID(), htm: method, htu: url, iat, ath, ...changes.claims })
    .setProtectedHeader({ alg, typ: 'dpop+jwt', jwk, ...changes.header })
    .sign(key.privateKey);
}

/** Returns the thumbprint of a key (RFC 7638), as in `cnf.jkt` and `dpop_jkt`. */
export const thumbprintOf = ({ publicJwk }: TestKey): Promise<string> => calculateJwkThumbprint(publicJwk);
