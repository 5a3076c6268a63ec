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
async function startAuditTrail() {
  const verify = createEventVerifier(listener, [listenerKey]);
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

  it('becomes a dead letter, and reaches no consumer, if its source did not sign it', async () => {
    const { bus, handed, letters } = await startAuditTrail();
    const forged = redeemed();
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
