import { randomBytes, randomUUID } from 'node:crypto';
import type { EventData, EventType } from '@clinical-launch/contracts/events/catalogue';
import {
  type CloudEvent,
  createEvent,
  type EventSource,
} from '@clinical-launch/contracts/events/cloud-event';
import { describe, expect, it } from '@jest/globals';
import { createEventVerifier, createEventWriter, deriveEventKey } from '../src/event-macs.ts';

const listenerKeys = { 'audit-trail': randomBytes(32), 'identity-provider': randomBytes(32) };
type Listener = keyof typeof listenerKeys;

const keyOf = (source: EventSource, listener: Listener = 'audit-trail', of = listener) =>
  ({ source, listener, key: deriveEventKey(listenerKeys[of], source) }) as const;

function eventFrom<T extends EventType>(source: string, type: T, data: EventData<T>): CloudEvent {
  const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
  return createEvent(type, { source, correlationId: randomUUID(), traceparent, now: new Date() }, data);
}

const redeemed = () => eventFrom('/launch-gateway', 'launch.token.redeemed.v1', {});
const refused = () =>
  eventFrom('/launch-gateway', 'launch.token.refused.v1', { status: 401, reason: 'token_unknown' });
const written = (event: CloudEvent, ...keys: Parameters<typeof createEventWriter>[0]): CloudEvent =>
  JSON.parse(createEventWriter(keys)(event));
const signed = (event: CloudEvent) => written(event, keyOf('launch-gateway'), keyOf('ordering'));
const verify = createEventVerifier('audit-trail', [randomBytes(32), listenerKeys['audit-trail']]);

describe('a signed event', () => {
  it('is accepted unchanged, also with the old key after a key rotation', () => {
    const event = redeemed();
    expect(verify(signed(event))).toEqual(event);
  });

  it('keeps its signature if another process writes it again', () => {
    const event = signed(redeemed());
    expect(signed(event)).toEqual(event);
  });

  it('is verified with its unknown members from a newer release', () => {
    const event = { ...redeemed(), subject: 'newer', data: { newer: 'member' } } as CloudEvent;
    expect(verify(signed(event))).toEqual(event);
    expect(() => verify({ ...signed(event), data: { newer: 'other' } } as CloudEvent)).toThrow(
      'did not write',
    );
  });

  it.each<[string, () => CloudEvent]>([
    ['without a signature', redeemed],
    ['with the signature of another event', () => ({ ...redeemed(), macs: signed(redeemed()).macs ?? '' })],
    [
      'signed by a service that is not its source',
      () => written(redeemed(), { ...keyOf('ordering'), source: 'launch-gateway' }),
    ],
    [
      'signed with the key of another consumer',
      () => written(redeemed(), keyOf('launch-gateway', 'audit-trail', 'identity-provider')),
    ],
    [
      'of a type that only another service may publish',
      () => signed(eventFrom('/launch-gateway', 'launch.session.ended.v1', {})),
    ],
    ['of an unknown source', () => signed(eventFrom('/constructor', 'launch.token.redeemed.v1', {}))],
    [
      'with the correlation id of another launch',
      () => ({ ...signed(redeemed()), correlationid: randomUUID() }),
    ],
    ['with another time', () => ({ ...signed(redeemed()), time: '2020-01-01T00:00:00.000Z' })],
    ['with another id, to be stored twice', () => ({ ...signed(redeemed()), id: randomUUID() })],
    [
      'with other data',
      () => ({ ...signed(refused()), data: { status: 401, reason: 'token_used' } }) as CloudEvent,
    ],
  ])('is refused %s', (_name, forge) => {
    expect(() => verify(forge())).toThrow(/^The source (did not write|may not publish) /);
  });
});
