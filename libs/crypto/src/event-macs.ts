import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import {
  type CloudEvent,
  eventSources,
  listenersTo,
  type ServiceName,
} from '@clinical-launch/contracts/events/cloud-event';

/**
 * The key with which `source` signs its events for `listener`: 32 bytes that only these two services have
 * (`deriveEventKey`), so that each event is proven to each listener separately.
 */
export type EventSigningKey = {
  readonly source: ServiceName;
  readonly listener: ServiceName;
  readonly key: Uint8Array;
};

/**
 * Writes an event as JSON. Adds `macs`, an HMAC-SHA-256 (RFC 2104) for each service that consumes its type,
 * if the keys of its source are available. Leaves an event unchanged if it has `macs` or comes from
 * elsewhere.
 */
export type EventWriter = (event: CloudEvent) => string;

/**
 * Returns an event that was proven to come from its source, without its `macs`.
 * @throws ForgedEventError
 */
export type EventVerifier = (event: CloudEvent) => CloudEvent;

/**
 * An event was not written by the service that it names, was changed since, or may not come from that
 * service.
 */
export class ForgedEventError extends Error {
  override name = 'ForgedEventError';
}

/**
 * Derives the key between a listener and one source from the key that only the listener has (HKDF-SHA-256,
 * RFC 5869).
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

/**
 * Creates the verifier of one listener.
 * @param keys The keys of the listener, from which those of the sources are derived. Several during a
 *   rotation; each is accepted.
 */
export function createEventVerifier(listener: ServiceName, keys: readonly Uint8Array[]): EventVerifier {
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
      throw new ForgedEventError(`The source may not publish ${type} (event ${id})`);
    const mac = macFor(listener, macs);
    const text = JSON.stringify(event);
    const isProven = source.keys.some((key) => timingSafeEqual(Buffer.from(macOf(key, text)), mac));
    if (!isProven) throw new ForgedEventError(`The source did not write ${type} (event ${id})`);
    return event;
  };
}

/** Returns the MAC for a listener as bytes of text, or as many bytes that match no MAC. */
function macFor(listener: ServiceName, macs = ''): Buffer {
  const beginning = `${listener}=`;
  const own = macs.split(',').find((mac) => mac.startsWith(beginning));
  return own === undefined ? Buffer.alloc(43) : Buffer.from(own.slice(beginning.length));
}
