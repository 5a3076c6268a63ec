import { temporarilyUnavailable } from '@clinical-launch/http/errors';
import { asResponse, type OutboundAnswer } from '@clinical-launch/http/outbound-fetch';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { meter } from '@clinical-launch/runtime/metrics';
import { errors } from 'jose';
import { type KeySet, readKeySet, type VerificationKeys, verifyByKeySet } from './verification-keys.ts';

/** The milliseconds after which keys are fetched again, so that withdrawn keys end. */
const freshMs = 10 * 60_000;
/**
 * The milliseconds for which known keys are used after the last successful fetch. If their owner is away,
 * tokens of a withdrawn key are accepted for this time (docs/safety/threat-model.md).
 */
const usableMs = 60 * 60_000;
/** The milliseconds between two tries to fetch keys: while known keys are used, and while there are none. */
const retryMs = { known: 60_000, none: 2000 };
/** The milliseconds after which the keys are fetched again for a token whose key is unknown. */
const unknownKeyMs = 5000;

type Options = {
  readonly owner: string;
  /** Fetches the JSON Web Key Set. @throws if it cannot be fetched */
  readonly fetchKeys: () => Promise<unknown>;
  /** The message of the answer 503. */
  readonly failure: string;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
};

/**
 * Creates the keys that an issuer or a client publishes. Fetches them when they are first needed, when they
 * are used after `freshMs`, and for a token whose key is unknown. Concurrent requests wait for the same fetch.
 */
export function createPublishedKeys({ owner, fetchKeys, failure, clock, logger }: Options): VerificationKeys {
  const measured = createFetchMeter(owner);
  let known: { readonly keys: KeySet; readonly fetchedAt: number } | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let cause: unknown;
  let trying: Promise<void> | undefined;

  const fetchAgain = async () => {
    const fetchedAt = clock.now();
    try {
      known = { keys: readKeySet(await fetchKeys()), fetchedAt };
      cause = undefined;
      measured.fetched(fetchedAt);
    } catch (error) {
      cause = error;
      measured.failed();
      logger?.warn({ err: error, owner }, 'signing keys could not be fetched');
    } finally {
      triedAt = clock.now();
      trying = undefined;
    }
  };
  const refresh = () => (trying ??= fetchAgain());
  const isUsedFor = (ms: number) => known !== undefined && clock.now() - known.fetchedAt < ms;
  const unavailable = (retryAfterMs: number) =>
    temporarilyUnavailable(failure, { retryAfterSeconds: retryAfterMs / 1000, cause });

  const currentKeys = async (): Promise<KeySet> => {
    const isKnown = isUsedFor(usableMs);
    const isDue = clock.now() - triedAt >= (isKnown ? retryMs.known : retryMs.none);
    if (!isUsedFor(freshMs) && isDue) {
      const refreshed = refresh();
      // If the last fetch failed, known keys are used without waiting for the next.
      if (!isKnown || cause === undefined) await refreshed;
    }
    if (known === undefined || !isUsedFor(usableMs)) throw unavailable(retryMs.none);
    return known.keys;
  };

  return {
    async verify(token, options) {
      const keys = await currentKeys();
      try {
        return await verifyByKeySet(token, keys, options);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        if (known?.keys === keys && clock.now() - triedAt >= unknownKeyMs) await refresh();
        if (cause !== undefined) throw unavailable(unknownKeyMs);
        if (known === undefined || known.keys === keys) throw error;
        return verifyByKeySet(token, known.keys, options);
      }
    },
  };
}

/** Returns the JSON of an answer, which may begin with a byte order mark. @throws Error if there is none */
export async function jsonOf(answer: OutboundAnswer): Promise<unknown> {
  if (answer.status !== 200) throw new Error(`The answer has the status ${answer.status}`);
  return asResponse(answer).json();
}

/**
 * Returns the keys with this name, and creates them if they are not known. Known keys outlive a change of the
 * registry, so that it does not forget the keys of an owner that is away.
 */
export function keepKeys<Keys>(known: Map<string, Keys>, name: string, create: () => Keys): Keys {
  const keys = known.get(name) ?? create();
  known.set(name, keys);
  return keys;
}

/** Counts the tries to fetch the keys of an owner, and shows when the last try succeeded. */
function createFetchMeter(owner: string) {
  const count = meter().createCounter('clinical_launch.issuer_keys.fetches', {
    description: 'Tries to fetch the signing keys of an issuer or client, by their outcome',
    unit: '{request}',
  });
  const time = meter().createGauge('clinical_launch.issuer_keys.fetched_time', {
    description: 'Time at which the signing keys of an issuer or client were last fetched, since 1970',
    unit: 's',
  });
  const of = { 'clinical_launch.issuer': owner };
  const add = (outcome: 'ok' | 'failed', by: number) =>
    count.add(by, { ...of, 'clinical_launch.outcome': outcome });
  // Starts at 0, because Prometheus sees no increase in a series whose first value is already 1.
  add('ok', 0);
  add('failed', 0);
  return {
    fetched(at: number) {
      add('ok', 1);
      time.record(at / 1000, of);
    },
    failed: () => add('failed', 1),
  };
}
