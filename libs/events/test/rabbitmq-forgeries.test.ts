import { randomBytes, randomUUID } from 'node:crypto';
import type { EventData, EventType } from '@clinical-launch/contracts/events/catalogue';
import {
  type CloudEvent,
  createEvent,
  type ServiceName,
} from '@clinical-launch/contracts/events/cloud-event';
import { createEventVerifier, createEventWriter, deriveEventKey } from '@clinical-launch/crypto/event-macs';
import { until } from '@clinical-launch/testing/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listDeadLetters } from '../src/dead-letters.ts';
import { openPlace, type Place } from './rabbitmq-place.ts';

let place: Place;
beforeEach(async () => {
  place = await openPlace();
});
afterEach(() => place.close());

const listener = 'audit-trail';
const listenerKey = randomBytes(32);
const keyOf = (source: ServiceName) =>
  ({ source, listener, key: deriveEventKey(listenerKey, source) }) as const;

function eventFrom<T extends EventType>(source: string, type: T, data: EventData<T>): CloudEvent {
  const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
  return createEvent(type, { source, correlationId: randomUUID(), traceparent, now: new Date() }, data);
}

const redeemed = () => eventFrom('/launch-gateway', 'launch.token.redeemed.v1', {});
const refused = () =>
  eventFrom('/launch-gateway', 'launch.token.refused.v1', { status: 401, reason: 'token_unknown' });
const gateway = createEventWriter([keyOf('launch-gateway')]);
const signed = (event: CloudEvent): CloudEvent => JSON.parse(gateway(event));

/** Starts a consumer on a bus that verifies events. Returns the handled events and the dead letters. */
async function startAuditTrail({ keys = [listenerKey] } = {}) {
  const verify = createEventVerifier(listener, keys);
  const bus = await place.connect({ verifierOf: (consumer) => (consumer === listener ? verify : undefined) });
  const handed: CloudEvent[] = [];
  await bus.consume({ name: listener, handle: async (event) => void handed.push(event) });
  const letters = () => listDeadLetters(place.broker, listener);
  return { bus, handed, letters };
}

/** Publishes events. `writeEvent` may sign them, and by default they are not signed. */
const publish = async (events: readonly CloudEvent[], writeEvent = JSON.stringify as typeof gateway) =>
  (await place.connect({ writeEvent })).publish(events);

describe('an event on RabbitMQ', () => {
  it('is delivered unchanged if its source signed it', async () => {
    const { handed, letters } = await startAuditTrail();
    const events = [redeemed(), refused()];
    await publish(events, gateway);
    await until(() => handed.length === 2);
    expect(handed).toEqual(events);
    expect(await letters()).toEqual([]);
  });

  it('keeps the signature of its source, even if another service publishes the event', async () => {
    const { handed } = await startAuditTrail();
    const event = redeemed();
    await publish([signed(event)], createEventWriter([keyOf('ordering')]));
    await until(() => handed.length === 1);
    expect(handed).toEqual([event]);
  });

  it('is accepted with the old key if it was signed before a key rotation', async () => {
    const { handed } = await startAuditTrail({ keys: [randomBytes(32), listenerKey] });
    const event = redeemed();
    await publish([event], gateway);
    await until(() => handed.length === 1);
    expect(handed).toEqual([event]);
  });

  it('is verified with its unknown members from a newer release', async () => {
    const { handed, letters } = await startAuditTrail();
    const event = { ...redeemed(), subject: 'newer', data: { newer: 'member' } } as CloudEvent;
    const changed = { ...signed(event), data: { newer: 'other' } } as CloudEvent;
    await publish([signed(event), changed]);
    await until(async () => handed.length === 1 && (await letters()).length === 1);
    expect(handed).toEqual([event]);
  });

  const forgeries: readonly [string, () => CloudEvent][] = [
    ['without a signature', redeemed],
    ['with the signature of another event', () => ({ ...redeemed(), macs: signed(redeemed()).macs ?? '' })],
    ['signed by a service that is not its source', () => signedBy('ordering', redeemed())],
    ['signed for another consumer', () => signedFor('order-renderer', redeemed())],
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
  ];

  it.each(forgeries)('%s becomes a dead letter, and reaches no consumer', async (_name, forge) => {
    const { bus, handed, letters } = await startAuditTrail();
    const forged = forge();
    await publish([forged]);
    await until(async () => (await letters()).length === 1);
    const [letter] = await letters();
    expect(letter).toMatchObject({ id: forged.id, attempts: 1 });
    expect(letter?.reason).toMatch(/^ForgedEventError: /);
    // The consumer still handles the next valid event.
    const event = redeemed();
    await bus.publish([signed(event)]);
    await until(() => handed.length === 1);
    expect(handed).toEqual([event]);
  });
});

/** Signs an event in the name of launch-gateway, but with the key of another service. */
function signedBy(service: ServiceName, event: CloudEvent): CloudEvent {
  const key = deriveEventKey(listenerKey, service);
  return JSON.parse(createEventWriter([{ source: 'launch-gateway', listener, key }])(event));
}

/** Signs an event as launch-gateway, but labels the MAC with the name of another consumer. */
function signedFor(other: ServiceName, event: CloudEvent): CloudEvent {
  const key = deriveEventKey(randomBytes(32), 'launch-gateway');
  const macs = createEventWriter([{ source: 'launch-gateway', listener, key }])(event);
  return JSON.parse(macs.replace(`"${listener}=`, `"${other}=`));
}
