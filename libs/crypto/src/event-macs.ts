import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import {
  type CloudEvent,
  type EventSource,
  eventSources,
  listenersTo,
  type ServiceName,
} from '@clinical-launch/contracts/events/cloud-event';

/**
 * The key with which `source` signs its events for `listener` (32 bytes, `deriveEventKey`). Only these two
 * services have the key, so no other service can forge the events.
 */
export type EventSigningKey = {
  readonly source: EventSource;
  readonly listener: ServiceName;
  readonly key: Uint8Array;
};

/**
 * Converts an event to JSON. Adds `macs`, which contains an HMAC-SHA-256 (RFC 2104) for each service that
 * consumes the event type. Adds nothing if the event already contains `macs`, or if this process has no keys
 * of the event's source.
 */
export type EventWriter = (event: CloudEvent) => string;

/**
 * Verifies that the service in `source` wrote an event, and returns the event without `macs`.
 * @throws ForgedEventError
 */
export type EventVerifier = (event: CloudEvent) => CloudEvent;

/**
 * The error for an event that the service in `source` did not write or may not publish, or that was changed
 * after signing.
 */
export class ForgedEventError extends Error {
  override name = 'ForgedEventError';
}

/**
 * Derives the key that a listener shares with a source (HKDF-SHA-256, RFC 5869).
 * @param listenerKey the secret key of the listener
 */
export const deriveEventKey = (listenerKey: Uint8Array, source: EventSource): Buffer =>
  Buffer.from(hkdfSync('sha256', listenerKey, '', `clinical-launch events of ${source}`, 32));

const macOf = (key: KeyObject, text: string) => createHmac('sha256', key).update(text).digest('base64url');

/** Creates an event writer with the keys of this process. */
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
 * Creates the event verifier of a listener.
 * @param keys the secret keys of the listener. A signature is valid if it matches a key derived from any of
 *   them, so that keys can be rotated
 */
export function createEventVerifier(listener: ServiceName, keys: readonly Uint8Array[]): EventVerifier {
  const sources = new Map(
    Object.entries(eventSources).map(([source, types]) => [
      `/${source}`,
      {
        types: new Set<string>(types),
        keys: keys.map((key) => createSecretKey(deriveEventKey(key, source as EventSource))),
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

/**
 * Returns the Base64URL text of the MAC for a listener as bytes. If the MAC is missing, returns bytes of the
 * same length that match no MAC.
 */
function macFor(listener: ServiceName, macs = ''): Buffer {
  const beginning = `${listener}=`;
  const own = macs.split(',').find((mac) => mac.startsWith(beginning));
  return own === undefined ? Buffer.alloc(43) : Buffer.from(own.slice(beginning.length));
}
