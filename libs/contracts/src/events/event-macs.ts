import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { eventSources, listenersTo, type ServiceName } from './catalogue.ts';
import type { CloudEvent } from './cloud-event.ts';

/**
 * What `source` signs its events with for `listener`: 32 bytes that these two services have and no other
 * (`deriveEventKey`), so that each event is proven to each listener apart.
 */
export type EventSigningKey = {
  readonly source: ServiceName;
  readonly listener: ServiceName;
  readonly key: Uint8Array;
};

/**
 * Writes an event as JSON. One of a source whose keys are here gets `macs`, an HMAC-SHA-256 (RFC 2104) for each service
 * that listens to its type; one that has them, or comes from elsewhere, is written as it is.
 */
export type EventWriter = (event: CloudEvent) => string;

/**
 * Returns an event that is proven to come from its source, without its `macs`.
 * @throws ForgedEventError
 */
export type EventVerifier = (event: CloudEvent) => CloudEvent;

/** An event was not written by the service that it names, was changed since, or is not that service's to tell. */
export class ForgedEventError extends Error {
  override name = 'ForgedEventError';
}

/**
 * Derives the key between a listener and one source from the key that the listener alone has (HKDF-SHA-256, RFC
 * 5869).
 */
export const deriveEventKey = (listenerKey: Uint8Array, source: ServiceName): Buffer =>
  Buffer.from(hkdfSync('sha256', listenerKey, '', `clinical-launch events of ${source}`, 32));

const macOf = (key: KeyObject, text: string) => createHmac('sha256', key).update(text).digest('base64url');

/** Creates the writer of a process that has these keys. */
export function createEventWriter(keys: readonly EventSigningKey[]): EventWriter {
  const keysOf = new Map<string, Map<ServiceName, KeyObject>>();
  for (const { source, listener, key } of keys) {
    const ofSource = keysOf.get(`/${source}`) ?? new Map<ServiceName, KeyObject>();
    keysOf.set(`/${source}`, ofSource.set(listener, createSecretKey(key)));
  }
  return (event) => {
    const text = JSON.stringify(event);
    const ofSource = keysOf.get(event.source);
    if (ofSource === undefined || event.macs !== undefined) return text;
    const macs = listenersTo(event.type).flatMap((listener) => {
      const key = ofSource.get(listener);
      return key === undefined ? [] : [`${listener}=${macOf(key, text)}`];
    });
    return macs.length === 0 ? text : `${text.slice(0, -1)},"macs":"${macs.join(',')}"}`;
  };
}

type VerifierOptions = {
  /** The keys of the listener, from which those of the sources are derived. Several while one is rolled: each counts. */
  readonly keys: readonly Uint8Array[];
  /** Takes events without `macs`, as they wait from before they were signed. Those that have them are checked. */
  readonly acceptsUnsigned?: boolean;
};

/** Creates what proves events to one listener. */
export function createEventVerifier(
  listener: ServiceName,
  { keys, acceptsUnsigned = false }: VerifierOptions,
): EventVerifier {
  const sources = new Map(
    Object.entries(eventSources).map(([source, types]) => [
      `/${source}`,
      {
        types: new Set<string>(types),
        keys: keys.map((key) => createSecretKey(deriveEventKey(key, source as ServiceName))),
      },
    ]),
  );
  return ({ macs, ...event }) => {
    const { id, type } = event;
    const source = sources.get(event.source);
    if (!source?.types.has(type))
      throw new ForgedEventError(`${type} is not for its source to tell (event ${id})`);
    if (macs === undefined && acceptsUnsigned) return event;
    const mac = macFor(listener, macs);
    const text = JSON.stringify(event);
    const isProven = source.keys.some((key) => timingSafeEqual(Buffer.from(macOf(key, text)), mac));
    if (!isProven) throw new ForgedEventError(`${type} was not written by its source (event ${id})`);
    return event;
  };
}

/** The MAC for a listener as text in bytes, or as many that no MAC is made of. */
function macFor(listener: ServiceName, macs = ''): Buffer {
  const beginning = `${listener}=`;
  const own = macs.split(',').find((mac) => mac.startsWith(beginning));
  return own === undefined ? Buffer.alloc(43) : Buffer.from(own.slice(beginning.length));
}
