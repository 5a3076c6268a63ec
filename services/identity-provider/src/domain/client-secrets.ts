import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RegisteredClient } from '@clinical-launch/contracts/registry';

/** A client has at most two live secrets, so that it can rotate one while the other works. */
const secretSlots = 2;

/**
 * Replaces the secret of a client without one, so that every answer takes the same comparisons. Never
 * accepted.
 */
const noSecret = { digest: Buffer.alloc(32), acceptedUntil: Number.NEGATIVE_INFINITY } as const;

export type SecretCheck = 'accepted' | 'expired' | 'wrong';

/**
 * Returns the hash of a client secret as the registry stores it: SHA-256, hexadecimal. A slow password hash
 * protects secrets that people choose. Ours have 256 random bits, which cannot be searched.
 */
export function hashClientSecret(secret: string): string {
  return digestOf(secret).toString('hex');
}

/**
 * Creates a client secret of 256 random bits, in the Base64URL alphabet.
 * @param random returns that many unpredictable bytes
 */
export function createClientSecret(random: (size: number) => Buffer = randomBytes): string {
  return random(32).toString('base64url');
}

/**
 * Compares a secret with those of a client, in constant time. An unknown client (`undefined`) takes the same
 * steps as a known client.
 * @param now milliseconds since 1970; a secret is refused from its `expires` on
 */
export function checkClientSecret(
  client: Pick<RegisteredClient, 'secrets'> | undefined,
  secret: string,
  now: number,
): SecretCheck {
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
