import { randomUUID } from 'node:crypto';
import type { TestClock } from '@clinical-launch/testing/test-clock';
import type { TestKey } from '@clinical-launch/testing/token-issuer';
import { SignJWT } from 'jose';

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

type Assertion = {
  readonly clientId: string;
  readonly audience: string;
  readonly key: TestKey;
  readonly clock: TestClock;
  /** Claims that replace the valid claims. An undefined claim is omitted. */
  readonly claims: Record<string, unknown>;
  readonly header: Record<string, unknown>;
};

/** Returns a client assertion (RFC 7523 section 3) that is valid except for the given changes. */
export function assertionFor({ clientId, audience, key, clock, claims, header }: Assertion): Promise<string> {
  const now = Math.floor(clock.now() / 1000);
  const good = { iss: clientId, sub: clientId, aud: audience, jti: randomUUID(), iat: now, exp: now + 60 };
  return new SignJWT({ ...good, ...claims })
    .setProtectedHeader({ alg: key.publicJwk.alg ?? 'ES256', kid: key.kid, ...header })
    .sign(key.privateKey);
}
