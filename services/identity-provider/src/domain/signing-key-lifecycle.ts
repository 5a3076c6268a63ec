import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { SigningAlgorithm } from './realms.ts';

/**
 * The lifecycle of a signing key. Only time changes the state, so every replica computes the same state.
 *
 * | state    | is published | signs | lasts until                                                          |
 * |----------|--------------|-------|----------------------------------------------------------------------|
 * | next     | yes          | no    | its `signsFrom`: 15 minutes after every replica publishes it         |
 * | current  | yes          | yes   | the `signsFrom` of its successor                                     |
 * | previous | yes          | no    | the last token that it signed has expired, by every verifier's clock |
 * | retired  | no           | no    | it is deleted                                                        |
 */
export const keyLifecycle = {
  next: { isPublished: true, signs: false },
  current: { isPublished: true, signs: true },
  previous: { isPublished: true, signs: false },
  retired: { isPublished: false, signs: false },
} as const;

export type KeyState = keyof typeof keyLifecycle;

/** The parts of a key that determine its lifecycle. `signsFrom` is in milliseconds since 1970. */
export type KeyTimes = {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  readonly signsFrom: number;
  readonly longestTokenSeconds: number;
};

const minuteMs = 60_000;

/**
 * The milliseconds between a replica's reads of the stored keys. A replica may publish a new key with this
 * delay.
 */
export const keysReadEveryMs = minuteMs;
/**
 * The milliseconds for which a key is published before it signs. HTTP caches may store a key set for five
 * minutes, and OAuth clients for another ten minutes.
 */
export const publishedBeforeSigningMs = 15 * minuteMs;
/**
 * The milliseconds for which a replica can use the keys that it has read. After this time, other replicas may
 * have replaced the keys.
 */
export const keysTrustedForMs = publishedBeforeSigningMs;

const createdBeforeSigningMs = publishedBeforeSigningMs + keysReadEveryMs;
/**
 * The tolerance for differing clocks. The clocks of replicas decide when a key stops signing, and the clocks
 * of verifiers when a token expires.
 */
const clockSlackMs = minuteMs;

/** Returns the state of a key. `keys` are all keys of its realm. */
export function keyStateAt(key: KeyTimes, keys: readonly KeyTimes[], now: number): KeyState {
  if (now < key.signsFrom) return 'next';
  const replacedAt = Math.min(
    ...keys.map(({ signsFrom }) => signsFrom).filter((signsFrom) => signsFrom > key.signsFrom),
  );
  if (now < replacedAt) return 'current';
  return now < replacedAt + key.longestTokenSeconds * 1000 + clockSlackMs ? 'previous' : 'retired';
}

/** Returns the published keys or the signing key of a realm, depending on the `column` of `keyLifecycle`. */
export function keysWhere<Key extends KeyTimes>(
  column: 'isPublished' | 'signs',
  keys: readonly Key[],
  now: number,
): Key[] {
  return keys.filter((key) => keyLifecycle[keyStateAt(key, keys, now)][column]);
}

export type RotationPolicy = {
  readonly algorithm: SigningAlgorithm;
  readonly rotateEveryDays: number;
  readonly accessTokenSeconds: number;
};

/** The changes that a realm's keys need now. */
export type KeyPlan = {
  /** Present if a key must be created. The new key starts to sign at `signsFrom`. */
  readonly create?: { readonly signsFrom: number };
  /** The ids of the keys whose tokens live longer than the stored `longestTokenSeconds`. */
  readonly prolong: readonly string[];
  /** The ids of the retired keys to delete. */
  readonly remove: readonly string[];
};

/** Returns whether a plan changes nothing. */
export function isIdle({ create, prolong, remove }: KeyPlan): boolean {
  return create === undefined && prolong.length === 0 && remove.length === 0;
}

/**
 * Plans a realm's keys. The first key signs immediately. A later key is created when its predecessor's period
 * ends or the realm's algorithm changes, early enough to be published before it signs.
 */
export function planKeys(keys: readonly KeyTimes[], policy: RotationPolicy, now: number): KeyPlan {
  const remove = keys.filter((key) => keyStateAt(key, keys, now) === 'retired').map(({ kid }) => kid);
  const prolong = keys
    .filter(
      ({ kid, longestTokenSeconds }) =>
        longestTokenSeconds < policy.accessTokenSeconds && !remove.includes(kid),
    )
    .map(({ kid }) => kid);
  const create = dueKey(keys, policy, now);
  return { prolong, remove, ...withoutUndefined({ create }) };
}

function dueKey(keys: readonly KeyTimes[], policy: RotationPolicy, now: number): KeyPlan['create'] {
  const newest = keys.toSorted((one, other) => other.signsFrom - one.signsFrom)[0];
  if (newest === undefined) return { signsFrom: now };
  if (now < newest.signsFrom) return undefined;
  const earliest = now + createdBeforeSigningMs;
  if (newest.algorithm !== policy.algorithm) return { signsFrom: earliest };
  const scheduled = newest.signsFrom + policy.rotateEveryDays * 24 * 60 * minuteMs;
  return scheduled <= earliest ? { signsFrom: earliest } : undefined;
}
