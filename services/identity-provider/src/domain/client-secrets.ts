import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RegisteredClient } from '@clinical-launch/contracts';

/** Two live secrets at most, so that one can be rolled while the other works. */
const secretSlots = 2;

/** Stands where a client has no secret, so that every answer takes the same comparisons. Never accepted. */
const noSecret = { digest: Buffer.alloc(32), acceptedUntil: Number.NEGATIVE_INFINITY } as const;

export type SecretCheck = 'accepted' | 'expired' | 'wrong';

/**
 * The hash of a client secret as the registry keeps it: SHA-256, hexadecimal. A slow password hash would protect
 * secrets that people choose; ours are generated with 256 bits, which no one can search.
 */
export function hashClientSecret(secret: string): string {
  return digestOf(secret).toString('hex');
}

/**
 * Makes a client secret of 256 random bits, in the Base64URL alphabet.
 * @param random gives that many unpredictable bytes
 */
export function createClientSecret(random: (size: number) => Buffer = randomBytes): string {
  return random(32).toString('base64url');
}

/**
 * Compares a secret with those of a client, in constant time. A client that is not known (`undefined`) takes the
 * same steps as one that is.
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
