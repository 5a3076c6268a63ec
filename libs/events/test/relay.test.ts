import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { describe, expect, it } from '@jest/globals';
import { type OutboxSource, startRelay } from '../src/relay.ts';
import { someEvents } from './events.ts';

const anHourMs = 3_600_000;
const often = 1;

/** Creates an outbox that drains its waiting events three at a time. */
function anOutbox(waiting: CloudEvent[]) {
  const source: OutboxSource = {
    async drain(publish) {
      const batch = waiting.slice(0, 3);
      if (batch.length === 0) return 0;
      await publish(batch);
      return waiting.splice(0, batch.length).length;
    },
  };
  return { waiting, source };
}

/**
 * Creates a bus that can be down and that records published events. `receives` waits until that many events
 * were published.
 */
function aBus() {
  const published: CloudEvent[] = [];
  const awaited = new Map<number, () => void>();
  const bus = { isUp: true };
  return {
    bus,
    published,
    publish: async (events: readonly CloudEvent[]) => {
      if (!bus.isUp) throw new Error('the broker is down');
      published.push(...events);
      for (const [count, resolve] of awaited) if (published.length >= count) resolve();
    },
    receives: async (count: number) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited.set(count, resolve);
      if (published.length < count) await promise;
    },
  };
}

/** Records the failures of a relay. `next` resolves at the next failure. */
function failures() {
  const reported: unknown[] = [];
  let next = Promise.withResolvers<void>();
  return {
    reported,
    next: () => next.promise,
    onFailure: (error: unknown) => {
      reported.push(error);
      next.resolve();
      next = Promise.withResolvers<void>();
    },
  };
}

describe('a relay', () => {
  it('publishes all waiting events once and in order', async () => {
    const events = someEvents(20);
    const { source, waiting } = anOutbox([...events]);
    const { publish, published } = aBus();
    const { onFailure, reported } = failures();
    const relay = startRelay({ source, publish, onFailure, everyMs: anHourMs });
    await relay.stop();
    expect(published).toEqual(events);
    expect([waiting, reported]).toEqual([[], []]);
  });

  it('polls its outbox at regular intervals', async () => {
    const events = someEvents(7);
    const { source, waiting } = anOutbox(events.slice(0, 1));
    const { publish, published, receives } = aBus();
    const relay = startRelay({ source, publish, onFailure: failures().onFailure, everyMs: often });
    await receives(1);
    waiting.push(...events.slice(1));
    await receives(7);
    await relay.stop();
    expect(published).toEqual(events);
  });

  it('keeps events that cannot be published, reports the failure, and publishes them when the bus is up', async () => {
    const events = someEvents(5);
    const { source, waiting } = anOutbox([...events]);
    const { bus, publish, published, receives } = aBus();
    const { onFailure, reported, next } = failures();
    bus.isUp = false;
    const relay = startRelay({ source, publish, onFailure, everyMs: often });
    await next();
    await next();
    expect(waiting).toEqual(events);
    expect(published).toEqual([]);
    expect(reported).toContainEqual(new Error('the broker is down'));
    bus.isUp = true;
    await receives(5);
    await relay.stop();
    expect(published).toEqual(events);
  });

  it('polls its outbox immediately when nudge() is called', async () => {
    const events = someEvents(2);
    const { source, waiting } = anOutbox(events.slice(0, 1));
    const { publish, published, receives } = aBus();
    const relay = startRelay({ source, publish, onFailure: failures().onFailure, everyMs: anHourMs });
    await receives(1);
    waiting.push(...events.slice(1));
    relay.nudge();
    await receives(2);
    await relay.stop();
    expect(published).toEqual(events);
  });

  it('polls again after the current poll if nudge() is called during that poll', async () => {
    const events = someEvents(2);
    const { source, waiting } = anOutbox([]);
    const { publish, published, receives } = aBus();
    const looking = Promise.withResolvers<void>();
    const mayAnswer = Promise.withResolvers<void>();
    let looks = 0;
    const relay = startRelay({
      source: {
        async drain(publishAll) {
          looks += 1;
          if (looks > 1) return source.drain(publishAll);
          looking.resolve();
          await mayAnswer.promise;
          // This poll began before the events were appended.
          return 0;
        },
      },
      publish,
      onFailure: failures().onFailure,
      everyMs: anHourMs,
    });
    await looking.promise;
    waiting.push(...events);
    relay.nudge();
    mayAnswer.resolve();
    await receives(2);
    await relay.stop();
    expect(published).toEqual(events);
  });

  it('publishes the events in the outbox before it stops', async () => {
    const events = someEvents(9);
    const { source, waiting } = anOutbox(events.slice(0, 1));
    const { publish, published, receives } = aBus();
    const relay = startRelay({ source, publish, onFailure: failures().onFailure, everyMs: anHourMs });
    await receives(1);
    waiting.push(...events.slice(1));
    await relay.stop();
    expect(published).toEqual(events);
  });

  it('can be stopped while the bus is down, and leaves the events in the outbox', async () => {
    const events = someEvents(2);
    const { source, waiting } = anOutbox([...events]);
    const { bus, publish } = aBus();
    const { onFailure, reported, next } = failures();
    bus.isUp = false;
    const relay = startRelay({ source, publish, onFailure, everyMs: anHourMs });
    await next();
    await relay.stop();
    expect(waiting).toEqual(events);
    expect(reported).toHaveLength(2);
  });
});
