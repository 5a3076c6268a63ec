import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RegisteredClient } from '@clinical-launch/contracts/registry';

/** The maximum number of secrets of a client. The old secret stays valid while a new secret is introduced. */
const secretSlots = 2;

/**
 * A placeholder for a missing secret, so that every check makes the same number of comparisons. It is never
 * accepted.
 */
const noSecret = { digest: Buffer.alloc(32), acceptedUntil: Number.NEGATIVE_INFINITY } as const;

/**
 * Returns the SHA-256 of a client secret in hexadecimal, as the registry stores it. A slow password hash is
 * only needed for secrets that people choose. Client secrets have 256 random bits and cannot be guessed.
 */
export function hashClientSecret(secret: string): string {
  return digestOf(secret).toString('hex');
}

/**
 * Creates a client secret of 256 random bits, in the Base64URL alphabet.
 * @param random returns the given number of random bytes
 */
export function createClientSecret(random: (size: number) => Buffer = randomBytes): string {
  return random(32).toString('base64url');
}

/**
 * Compares a secret with the secrets of a client in constant time. Takes the same steps for an unknown client
 * (`undefined`).
 * @param now milliseconds since 1970. A secret is not accepted after its `expires`
 */
export function checkClientSecret(
  client: Pick<RegisteredClient, 'secrets'> | undefined,
  secret: string,
  now: number,
): 'accepted' | 'expired' | 'wrong' {
  const given = digestOf(secret);
  const kept = (client?.secrets ?? []).map(({ sha256, expires }) => ({
    digest: Buffer.from(sha256, 'hex'),
    acceptedUntil: expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires),
  }));
  const outcomes = Array.from({ length: secretSlots }, (_, slot) => {
    const { digest, acceptedUntil } = kept[slot] ?? noSecret;
    const isEqual = timingSafeEqual(digest, given);
    return { isEqual: isEqual && kept[slot] !== undefined, isLive: now < acceptedUntil };
  });
  if (outcomes.some(({ isEqual, isLive }) => isEqual && isLive)) return 'accepted';
  return outcomes.some(({ isEqual }) => isEqual) ? 'expired' : 'wrong';
}

function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
