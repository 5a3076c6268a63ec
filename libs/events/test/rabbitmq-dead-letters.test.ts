import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { until } from '@clinical-launch/testing/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listDeadLetters, replayDeadLetters } from '../src/dead-letters.ts';
import { subscribe } from '../src/rabbitmq-subscription.ts';
import { deliveryLimit } from '../src/rabbitmq-topology.ts';
import { anEvent, idsOf, someEvents } from './events.ts';
import { openPlace, type Place } from './rabbitmq-place.ts';

let place: Place;
beforeEach(async () => {
  place = await openPlace();
});
afterEach(() => place.close());

const consumer = 'audit';

/** Starts a consumer on a new bus. The consumer fails until `isCured` is set. */
async function startAudit() {
  const bus = await place.connect();
  const health = { isCured: false };
  const handed: CloudEvent[] = [];
  const dealtWith: CloudEvent[] = [];
  const handle = async (event: CloudEvent) => {
    handed.push(event);
    if (!health.isCured) throw new RangeError('the table is full');
    dealtWith.push(event);
  };
  await bus.consume({ name: consumer, handle });
  const buried = async (count: number) =>
    until(async () => (await place.depthOf(place.topology.deadLetterQueueOf(consumer))) === count);
  return { bus, health, handed, dealtWith, buried };
}

describe('dead letters', () => {
  it('contain an event whose consumer failed at every attempt, and the last error', async () => {
    const { bus, handed, buried } = await startAudit();
    const event = anEvent();
    const before = Date.now();
    await bus.publish([event]);
    await buried(1);
    const [letter, ...others] = await listDeadLetters(place.broker, consumer);
    expect(others).toEqual([]);
    expect(letter).toMatchObject({
      id: event.id,
      event,
      reason: 'RangeError: the table is full',
      attempts: 3,
    });
    expect(Date.parse(letter?.time ?? '')).toBeGreaterThanOrEqual(before);
    expect(handed).toEqual([event, event, event]);
    expect(place.log.at(-1)).toMatchObject({ level: 'error', consumer, eventId: event.id, attempt: 3 });
    await bus.stop();
    const restarted = await startAudit();
    const next = anEvent();
    await restarted.bus.publish([next]);
    await restarted.buried(2);
    expect(restarted.handed).toEqual([next, next, next]);
  });

  it('can be listed any number of times in the same order', async () => {
    const { bus, buried } = await startAudit();
    const events = someEvents(5);
    for (const [index, event] of events.entries()) {
      await bus.publish([event]);
      await buried(index + 1);
    }
    // Listing 25 times exceeds RabbitMQ's default delivery limit, after which RabbitMQ would drop a message.
    for (let look = 0; look < 25; look += 1) {
      const letters = await listDeadLetters(place.broker, consumer);
      expect(letters.map(({ id }) => id)).toEqual(idsOf(events));
    }
    const limited = await listDeadLetters(place.broker, consumer, { limit: 2 });
    expect(limited.map(({ id }) => id)).toEqual(idsOf(events.slice(0, 2)));
    expect(await place.depthOf(place.topology.deadLetterQueueOf(consumer))).toBe(5);
  });

  it('are delivered only to their own consumer when replayed, and are removed from the dead-letter queue', async () => {
    const { bus, health, dealtWith, buried } = await startAudit();
    const other: CloudEvent[] = [];
    await bus.consume({ name: 'other', handle: async (event) => void other.push(event) });
    const events = someEvents(4);
    await bus.publish(events);
    await buried(4);
    health.isCured = true;
    expect(new Set(await replayDeadLetters(place.broker, consumer))).toEqual(new Set(idsOf(events)));
    await until(() => dealtWith.length === 4);
    expect(new Set(idsOf(dealtWith))).toEqual(new Set(idsOf(events)));
    expect(await listDeadLetters(place.broker, consumer)).toEqual([]);
    expect(other).toEqual(events);
  });

  it('can be replayed by event id', async () => {
    const { bus, health, dealtWith, buried } = await startAudit();
    const [first, second, third] = [anEvent(), anEvent(), anEvent()];
    await bus.publish([first, second, third]);
    await buried(3);
    health.isCured = true;
    const replayed = await replayDeadLetters(place.broker, consumer, [second.id, anEvent().id]);
    expect(replayed).toEqual([second.id]);
    await until(() => dealtWith.length === 1);
    expect(dealtWith).toEqual([second]);
    const left = await listDeadLetters(place.broker, consumer);
    expect(new Set(left.map(({ id }) => id))).toEqual(new Set([first.id, third.id]));
  });

  it('get as many delivery attempts as a new event when they are replayed', async () => {
    const { bus, handed, buried } = await startAudit();
    await bus.publish([anEvent()]);
    await buried(1);
    await replayDeadLetters(place.broker, consumer);
    await until(() => handed.length === 6);
    await buried(1);
    expect(await listDeadLetters(place.broker, consumer)).toMatchObject([{ attempts: 3 }]);
  });

  it('include invalid messages after one attempt, but no reason and no log contains their content', async () => {
    const { handed, buried } = await startAudit();
    const foreign = { ...anEvent(), time: 'Whitfield', data: { family: 'Whitfield' } };
    const queue = place.topology.queueOf(consumer);
    await place.withChannel(async (channel) => {
      channel.sendToQueue(queue, Buffer.from(JSON.stringify(foreign)), { messageId: foreign.id });
    });
    await buried(1);
    await place.withChannel(async (channel) => channel.sendToQueue(queue, Buffer.from('Whitfield')));
    await buried(2);
    const letters = await listDeadLetters(place.broker, consumer);
    expect(letters).toMatchObject([
      { id: foreign.id, event: undefined, attempts: 1 },
      { id: '', event: undefined, reason: 'TypeError: The message is not JSON', attempts: 1 },
    ]);
    expect(letters[0]?.reason).toContain('launch.token.redeemed.v1 does not match the catalogue');
    expect(JSON.stringify([letters, place.log])).not.toContain('Whitfield');
    expect(handed).toEqual([]);
  });

  it('include an unreadable or forged message of a batch, but not the valid messages around it', async () => {
    const verify = (event: CloudEvent) => {
      if (event.type === 'launch.token.refused.v1') throw new Error('its source did not sign it');
      return event;
    };
    const publisher = await place.connect({ knownConsumers: [{ name: consumer }] });
    const events = someEvents(20);
    await publisher.publish(events.slice(0, 10));
    await place.withChannel(async (channel) => {
      channel.sendToQueue(place.topology.queueOf(consumer), Buffer.from('Whitfield'));
    });
    await publisher.publish([anEvent('launch.token.refused.v1'), ...events.slice(10)]);
    const bus = await place.connect({ verifierOf: () => verify });
    const stored: CloudEvent[] = [];
    await bus.consume({ name: consumer, handleAll: async (batch) => void stored.push(...batch) });
    await until(() => stored.length === events.length);
    expect(stored).toEqual(events);
    await until(async () => (await listDeadLetters(place.broker, consumer)).length === 2);
  });

  it('are created by the broker when a message exceeds its delivery limit', async () => {
    const { bus, buried } = await startAudit();
    await bus.stop();
    const publisher = await place.connect();
    const event = anEvent();
    await publisher.publish([event]);
    await place.withChannel(async (channel) => {
      for (let death = 0; death <= deliveryLimit; death += 1) {
        const message = await channel.get(place.topology.queueOf(consumer));
        if (message === false) throw new Error(`The message was missing after ${death} deliveries`);
        channel.reject(message, true);
      }
    });
    await buried(1);
    const [letter] = await listDeadLetters(place.broker, consumer);
    expect(letter).toMatchObject({ id: event.id, event, reason: 'delivery_limit', attempts: undefined });
    expect(Date.parse(letter?.time ?? '')).not.toBeNaN();
  });

  it('are created by the broker, without the error, if the consumer cannot publish the error', async () => {
    const { bus, buried } = await startAudit();
    await bus.stop();
    const subscription = await subscribe({
      link: { url: place.broker.url, logger: { info() {}, warn() {}, error() {} } },
      topology: place.topology,
      consumer: { name: consumer, handle: () => Promise.reject(new Error('the consumer fails')) },
      prefetch: 1,
      retryAfterMs: [],
      bury: () => Promise.reject(new Error('RabbitMQ accepts no events')),
    });
    const publisher = await place.connect();
    const event = anEvent();
    await publisher.publish([event]);
    await buried(1);
    await subscription.stop();
    expect(await listDeadLetters(place.broker, consumer)).toMatchObject([{ event, reason: 'rejected' }]);
  });

  it('cannot be listed for an unknown consumer', async () => {
    await expect(listDeadLetters(place.broker, 'nobody')).rejects.toThrow(
      'The consumer nobody has no dead-letter queue',
    );
  });
});
