import { setTimeout as delay } from 'node:timers/promises';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { Unavailable } from '@clinical-launch/contracts/unavailable';
import { until } from '@clinical-launch/testing/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BatchConsumer, EventBus, EventConsumer } from '../src/event-bus.ts';
import { anEvent, idsOf, someEvents } from './events.ts';

/** One implementation, ready for the suite, with no other publisher or consumer. */
export type EventBusUnderTest = {
  readonly bus: EventBus;
  /** The number of deliveries to a consumer that cannot handle an event, before it is a dead letter. */
  readonly deliveries: number;
  /** Returns the dead letters of a consumer. */
  deadLetters(consumer: string): Promise<readonly CloudEvent[]>;
  /** Releases what remains after the bus is stopped; the bus may be stopped already. */
  close(): Promise<void>;
};

/** Returns a consumer that stores each event after `deal` handled it. */
function aConsumer({
  deal = async () => undefined,
  ...rest
}: Pick<Partial<EventConsumer>, 'types'> & { deal?: Deal } = {}) {
  const handed: CloudEvent[] = [];
  const dealtWith: CloudEvent[] = [];
  const consumer: EventConsumer = {
    name: `consumer-${crypto.randomUUID()}`,
    ...rest,
    handle: async (event) => {
      handed.push(event);
      await deal(event);
      dealtWith.push(event);
    },
  };
  return { consumer, handed, dealtWith };
}
type Deal = (event: CloudEvent) => Promise<void>;

/** Returns a consumer of batches that stores each batch after `deal` handled it, all of it or nothing. */
function aBatchConsumer(deal: (events: readonly CloudEvent[]) => Promise<void> = async () => undefined) {
  const handed: CloudEvent[][] = [];
  const dealtWith: CloudEvent[] = [];
  const consumer: BatchConsumer = {
    name: `consumer-${crypto.randomUUID()}`,
    handleAll: async (events) => {
      handed.push([...events]);
      await deal(events);
      dealtWith.push(...events);
    },
  };
  return { consumer, handed, dealtWith };
}

const failing = async () => {
  throw new Error('cannot deal with it');
};

/**
 * Describes the behaviour of every implementation of `EventBus`. Delivery is at least once, so a duplicate
 * event is never an error here, and an event may take time to arrive.
 */
export function describeEventBus(name: string, create: () => Promise<EventBusUnderTest>): void {
  describe(`${name}: event bus`, () => {
    let under: EventBusUnderTest;
    beforeEach(async () => {
      under = await create();
    });
    afterEach(() => under.close());

    it('brings every event to every consumer, as it was published', async () => {
      const consumers = [aConsumer(), aConsumer(), aConsumer()];
      for (const { consumer } of consumers) await under.bus.consume(consumer);
      const events = [anEvent('launch.token.refused.v1'), ...someEvents(20)];
      await under.bus.publish(events.slice(0, 5));
      await under.bus.publish(events.slice(5));
      for (const { dealtWith } of consumers) {
        await until(() => idsOf(dealtWith).length === events.length);
        for (const event of events) expect(dealtWith).toContainEqual(event);
      }
    });

    it('brings a consumer the types that it wants and no others', async () => {
      const refusals = aConsumer({ types: ['launch.token.refused.v1'] });
      const both = aConsumer({ types: ['launch.token.refused.v1', 'launch.token.redeemed.v1'] });
      const others = aConsumer({ types: ['order.submitted.v1'] });
      for (const { consumer } of [refusals, both, others]) await under.bus.consume(consumer);
      const events = [anEvent(), anEvent('launch.token.refused.v1'), anEvent()];
      const last = anEvent('launch.token.refused.v1');
      await under.bus.publish([...events, last]);
      await until(() => idsOf(refusals.dealtWith).includes(last.id) && idsOf(both.dealtWith).length === 4);
      expect(idsOf(refusals.handed)).toEqual([events[1]?.id, last.id]);
      await under.bus.stop();
      expect(others.handed).toEqual([]);
    });

    it('keeps the order of publication for each consumer, however slow it is', async () => {
      const slow = aConsumer({ deal: () => delay(1) });
      const fast = aConsumer();
      for (const { consumer } of [slow, fast]) await under.bus.consume(consumer);
      const events = someEvents(50);
      for (let from = 0; from < events.length; from += 7)
        await under.bus.publish(events.slice(from, from + 7));
      for (const { dealtWith } of [slow, fast]) {
        await until(() => idsOf(dealtWith).length === events.length);
        expect(idsOf(dealtWith)).toEqual(idsOf(events));
      }
    });

    it('hands a consumer one event at a time', async () => {
      let atOnce = 0;
      let most = 0;
      const { consumer, dealtWith } = aConsumer({
        deal: async () => {
          atOnce += 1;
          most = Math.max(most, atOnce);
          await delay(1);
          atOnce -= 1;
        },
      });
      await under.bus.consume(consumer);
      await under.bus.publish(someEvents(10));
      await until(() => idsOf(dealtWith).length === 10);
      expect(most).toBe(1);
    });

    it('hands a consumer of batches together what waits for it, in order and one batch at a time', async () => {
      const first = Promise.withResolvers<void>();
      let atOnce = 0;
      let most = 0;
      const { consumer, handed, dealtWith } = aBatchConsumer(async () => {
        atOnce += 1;
        most = Math.max(most, atOnce);
        await first.promise;
        atOnce -= 1;
      });
      // Its only batch is there when this one has received all of the events.
      const witness = aConsumer();
      for (const one of [consumer, witness.consumer]) await under.bus.consume(one);
      const events = someEvents(100);
      await under.bus.publish(events.slice(0, 1));
      await until(() => handed.length === 1);
      await under.bus.publish(events.slice(1));
      await until(() => witness.dealtWith.length === events.length);
      first.resolve();
      await until(() => dealtWith.length === events.length);
      expect(idsOf(dealtWith)).toEqual(idsOf(events));
      expect(handed.length).toBeLessThan(20);
      expect(most).toBe(1);
    });

    it('isolates an event that fails its batch: the others are handled once, and it alone is a dead letter', async () => {
      const events = someEvents(40);
      const bad = events[17];
      const { consumer, handed, dealtWith } = aBatchConsumer(async (batch) => {
        if (batch.some(({ id }) => id === bad?.id)) await failing();
      });
      await under.bus.consume(consumer);
      await under.bus.publish(events);
      await until(async () => (await under.deadLetters(consumer.name)).length > 0);
      await until(() => dealtWith.length === events.length - 1);
      expect(await under.deadLetters(consumer.name)).toEqual([bad]);
      expect(idsOf(dealtWith)).toEqual(idsOf(events.filter((event) => event !== bad)));
      const alone = handed.filter((batch) => batch.length === 1 && batch[0]?.id === bad?.id);
      expect(alone).toHaveLength(under.deliveries);
    });

    it('brings a batch again that failed for a moment, every event of it', async () => {
      let failures = 1;
      const { consumer, dealtWith } = aBatchConsumer(async () => {
        failures -= 1;
        if (failures >= 0) await failing();
      });
      await under.bus.consume(consumer);
      const events = someEvents(10);
      await under.bus.publish(events);
      await until(() => dealtWith.length === events.length);
      expect(new Set(idsOf(dealtWith))).toEqual(new Set(idsOf(events)));
      expect(await under.deadLetters(consumer.name)).toEqual([]);
    });

    it('divides no batch while its database is away, and brings all of it again', async () => {
      let isAway = true;
      const { consumer, handed, dealtWith } = aBatchConsumer(async () => {
        if (!isAway) return;
        isAway = false;
        throw new Unavailable('The database is away');
      });
      await under.bus.consume(consumer);
      const events = someEvents(10);
      await under.bus.publish(events);
      await until(() => dealtWith.length === events.length);
      const [first] = handed;
      const again = handed.slice(1).flat();
      expect(idsOf(again).filter((id) => idsOf(first ?? []).includes(id))).toHaveLength(first?.length ?? 0);
      expect(new Set(idsOf(dealtWith))).toEqual(new Set(idsOf(events)));
    });

    it('brings an event again to the consumer that failed, and to it alone', async () => {
      let failures = under.deliveries - 1;
      const weak = aConsumer({
        deal: async () => {
          failures -= 1;
          if (failures >= 0) await failing();
        },
      });
      const strong = aConsumer();
      for (const { consumer } of [weak, strong]) await under.bus.consume(consumer);
      const event = anEvent();
      await under.bus.publish([event]);
      await until(() => weak.dealtWith.length > 0 && strong.dealtWith.length > 0);
      expect(weak.dealtWith).toEqual([event]);
      expect(weak.handed).toHaveLength(under.deliveries);
      expect(strong.handed).toEqual([event]);
      expect(await under.deadLetters(weak.consumer.name)).toEqual([]);
    });

    it('makes a dead letter of an event after its last delivery, whole, and goes on with the next', async () => {
      const bad = anEvent('launch.token.refused.v1');
      const weak = aConsumer({ deal: async ({ id }) => (id === bad.id ? failing() : undefined) });
      const strong = aConsumer();
      for (const { consumer } of [weak, strong]) await under.bus.consume(consumer);
      const next = anEvent();
      await under.bus.publish([bad, next]);
      await until(async () => (await under.deadLetters(weak.consumer.name)).length > 0);
      await until(() => idsOf(weak.dealtWith).includes(next.id) && idsOf(strong.dealtWith).length === 2);
      expect(await under.deadLetters(weak.consumer.name)).toEqual([bad]);
      expect(await under.deadLetters(strong.consumer.name)).toEqual([]);
      expect(weak.handed.filter(({ id }) => id === bad.id)).toHaveLength(under.deliveries);
      expect(weak.dealtWith).toEqual([next]);
    });

    it('takes a consumer that throws at once like one whose promise is rejected', async () => {
      const name = `consumer-${crypto.randomUUID()}`;
      const handle = (): Promise<void> => {
        throw new Error('cannot deal with it');
      };
      await under.bus.consume({ name, handle });
      await under.bus.publish([anEvent()]);
      await until(async () => (await under.deadLetters(name)).length === 1);
      expect(await under.deadLetters(name)).toHaveLength(1);
    });

    it('refuses an event that is not of the catalogue, with everything that was published with it', async () => {
      const { consumer, handed, dealtWith } = aConsumer();
      await under.bus.consume(consumer);
      const foreign = JSON.parse(JSON.stringify({ ...anEvent(), type: 'order.forgotten.v1' }));
      const faulty = { ...anEvent('launch.token.refused.v1'), data: { status: '401' } };
      for (const bad of [foreign, JSON.parse(JSON.stringify(faulty))]) {
        await expect(under.bus.publish([anEvent(), bad])).rejects.toThrow(TypeError);
      }
      const marker = anEvent();
      await under.bus.publish([marker]);
      await until(() => dealtWith.length > 0);
      expect(handed).toEqual([marker]);
    });

    it('hands over members that a newer release added, as they came', async () => {
      const { consumer, handed, dealtWith } = aConsumer();
      await under.bus.consume(consumer);
      const event = JSON.parse(
        JSON.stringify({ ...anEvent(), subject: 'newer', data: { newer: { member: [1] } } }),
      );
      await under.bus.publish([event]);
      await until(() => dealtWith.length > 0);
      expect(handed).toEqual([event]);
    });

    it('does nothing when there is nothing to publish', async () => {
      const { consumer, handed } = aConsumer();
      await under.bus.consume(consumer);
      await under.bus.publish([]);
      await under.bus.stop();
      expect(handed).toEqual([]);
    });

    it('stops after what is under way', async () => {
      const story: string[] = [];
      const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
      const { consumer, handed } = aConsumer({
        deal: async () => {
          await mayGoOn;
          await delay(20);
          story.push('dealt with');
        },
      });
      await under.bus.consume(consumer);
      await under.bus.publish([anEvent()]);
      await until(() => handed.length > 0);
      const stopping = under.bus.stop().then(() => story.push('stopped'));
      goOn();
      await stopping;
      expect(story).toEqual(['dealt with', 'stopped']);
    });
  });
}
