import { setTimeout as delay } from 'node:timers/promises';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { Unavailable } from '@clinical-launch/contracts/unavailable';
import { until } from '@clinical-launch/testing/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BatchConsumer, EventBus, EventConsumer } from '../src/event-bus.ts';
import { anEvent, idsOf, someEvents } from './events.ts';

/** A bus to test, which nothing else uses. */
export type EventBusUnderTest = {
  readonly bus: EventBus;
  /** How often the bus delivers an event to a failing consumer before the event becomes a dead letter. */
  readonly deliveries: number;
  /** Returns the dead letters of the named consumer. */
  deadLetters(consumer: string): Promise<readonly CloudEvent[]>;
  /** Stops the bus, if it still runs, and releases its resources. */
  close(): Promise<void>;
};

/** Returns a consumer that runs `deal` for each event, and the lists of received and handled events. */
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

/** Returns a consumer that runs `deal` for each batch, and lists of received batches and handled events. */
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
  throw new Error('the consumer fails');
};

/**
 * Describes the behaviour of every implementation of `EventBus`. Delivery is at least once and asynchronous,
 * so the suite accepts duplicates and waits for events.
 */
export function describeEventBus(name: string, create: () => Promise<EventBusUnderTest>): void {
  describe(`an event bus (${name})`, () => {
    let under: EventBusUnderTest;
    beforeEach(async () => {
      under = await create();
    });
    afterEach(() => under.close());

    it('delivers every event unchanged to every consumer', async () => {
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

    it('delivers only the requested types to a consumer', async () => {
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

    it('preserves the order of publication for slow and fast consumers', async () => {
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

    it('delivers one event at a time to a consumer', async () => {
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

    it('delivers waiting events to a batch consumer in order, one batch at a time', async () => {
      const first = Promise.withResolvers<void>();
      let atOnce = 0;
      let most = 0;
      const { consumer, handed, dealtWith } = aBatchConsumer(async () => {
        atOnce += 1;
        most = Math.max(most, atOnce);
        await first.promise;
        atOnce -= 1;
      });
      // When this consumer has handled all events, they are also in the queue of the batch consumer.
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

    it('dead-letters only the failing event of a batch, while the consumer handles the other events once', async () => {
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

    it('redelivers every event of a batch after a temporary failure', async () => {
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

    it('redelivers a batch without splitting it when the consumer throws Unavailable', async () => {
      let isAway = true;
      const { consumer, handed, dealtWith } = aBatchConsumer(async () => {
        if (!isAway) return;
        isAway = false;
        throw new Unavailable('The database is unavailable');
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

    it('redelivers an event only to the consumer that failed', async () => {
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

    it('makes an event a dead letter after its last failed delivery, and delivers the next event', async () => {
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

    it('treats a synchronous error of a consumer like a rejected promise', async () => {
      const name = `consumer-${crypto.randomUUID()}`;
      const handle = (): Promise<void> => {
        throw new Error('the consumer fails');
      };
      await under.bus.consume({ name, handle });
      await under.bus.publish([anEvent()]);
      await until(async () => (await under.deadLetters(name)).length === 1);
      expect(await under.deadLetters(name)).toHaveLength(1);
    });

    it('refuses a whole batch if one of its events does not match the catalogue', async () => {
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

    it('delivers unknown event members from a newer release unchanged', async () => {
      const { consumer, handed, dealtWith } = aConsumer();
      await under.bus.consume(consumer);
      const event = JSON.parse(
        JSON.stringify({ ...anEvent(), subject: 'newer', data: { newer: { member: [1] } } }),
      );
      await under.bus.publish([event]);
      await until(() => dealtWith.length > 0);
      expect(handed).toEqual([event]);
    });

    it('accepts an empty list of events', async () => {
      const { consumer, handed } = aConsumer();
      await under.bus.consume(consumer);
      await under.bus.publish([]);
      await under.bus.stop();
      expect(handed).toEqual([]);
    });

    it('waits for the current event to be handled before it stops', async () => {
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
