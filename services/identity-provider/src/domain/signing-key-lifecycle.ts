import type { SigningAlgorithm } from './realms.ts';

/**
 * The life of a signing key. Time alone moves it on, so every replica finds the same state without being told.
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

/** What the lifecycle needs to know of a key. Times are milliseconds since 1970. */
export type KeyTimes = {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  readonly signsFrom: number;
  /** Lifetime of the longest-lived tokens that it signs. */
  readonly longestTokenSeconds: number;
};

const minuteMs = 60_000;

/** A replica looks at the kept keys this often, so it may publish a new one this late. */
export const keysReadEveryMs = minuteMs;
/** OAuth clients keep a key set for ten minutes, on top of the five that HTTP caches may. */
export const publishedBeforeSigningMs = 15 * minuteMs;
/** The keys that a replica read this long ago are still those that sign; after that another may have replaced them. */
export const keysTrustedForMs = publishedBeforeSigningMs;

const createdBeforeSigningMs = publishedBeforeSigningMs + keysReadEveryMs;
/** For clocks that differ: of replicas, when a key's time to sign ends, and of verifiers, when a token's ends. */
const clockSlackMs = minuteMs;

/** The state of one of a realm's keys. */
export function keyStateAt(key: KeyTimes, keys: readonly KeyTimes[], now: number): KeyState {
  if (now < key.signsFrom) return 'next';
  const replacedAt = Math.min(
    ...keys.map(({ signsFrom }) => signsFrom).filter((signsFrom) => signsFrom > key.signsFrom),
  );
  if (now < replacedAt) return 'current';
  return now < replacedAt + key.longestTokenSeconds * 1000 + clockSlackMs ? 'previous' : 'retired';
}

/** The keys of a realm that are in one of the states for which `column` of the lifecycle says yes. */
export function keysThat<Key extends KeyTimes>(
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

/** What is to be done now about a realm's keys. */
export type KeyPlan = {
  /** When a key that is to be made begins to sign. */
  readonly create?: { readonly signsFrom: number };
  /** Keys whose tokens will live longer than was said when they were made. */
  readonly prolong: readonly string[];
  /** Retired keys, to be deleted. */
  readonly remove: readonly string[];
};

/** Whether a plan leaves everything as it is. */
export function isIdle({ create, prolong, remove }: KeyPlan): boolean {
  return create === undefined && prolong.length === 0 && remove.length === 0;
}

/**
 * Plans a realm's keys: the first signs at once; each later one is made early enough to be published in time, when
 * its predecessor's period ends or the realm's algorithm was changed.
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
  return { prolong, remove, ...(create === undefined ? {} : { create }) };
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
