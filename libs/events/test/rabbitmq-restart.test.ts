import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { startRabbitMq } from '@clinical-launch/testing/servers/rabbitmq';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type OutboxSource, startRelay } from '../src/relay.ts';
import { anEvent, idsOf, someEvents } from './events.ts';
import { openPlace } from './rabbitmq-place.ts';

let broker: Awaited<ReturnType<typeof startRabbitMq>>;
beforeAll(async () => {
  broker = await startRabbitMq();
});
afterAll(() => broker.stop());

/** Creates an outbox in memory that removes events after they were published. */
function anOutbox() {
  const waiting: CloudEvent[] = [];
  const source: OutboxSource = {
    async drain(publish) {
      const batch = waiting.slice(0, 50);
      if (batch.length === 0) return 0;
      await publish(batch);
      waiting.splice(0, batch.length);
      return batch.length;
    },
  };
  return { waiting, source };
}

describe('RabbitMQ', () => {
  it('loses no event when it is killed, and consumers can recognise redelivered events by id', async () => {
    const place = await openPlace(broker.url);
    const bus = await place.connect({ confirmWithinMs: 5000 });
    const effects = new Map<string, CloudEvent>();
    let deliveries = 0;
    const handle = async (event: CloudEvent) => {
      deliveries += 1;
      if (!effects.has(event.id)) effects.set(event.id, event);
    };
    await bus.consume({ name: 'audit', handle });

    const { waiting, source } = anOutbox();
    const appended: CloudEvent[] = [];
    let failures = 0;
    const relay = startRelay({
      source,
      publish: (events) => bus.publish(events),
      onFailure: () => {
        failures += 1;
      },
      everyMs: 10,
      // The relay tries again within this time after the broker has restarted.
      maxRetryMs: 100,
    });
    const append = (count: number) => {
      const events = someEvents(count);
      appended.push(...events);
      waiting.push(...events);
      relay.nudge();
    };
    for (let round = 1; round <= 2; round += 1) {
      // Appends events before, during and after the kill. Pauses at 1,000 waiting events, so that a slow
      // machine can publish them all.
      const stream = setInterval(() => waiting.length < 1000 && append(20), 20);
      // Waits at least two seconds, because RabbitMQ stores a new queue half a second after its declaration.
      const [enough, early] = [effects.size + 1000, Date.now() + 2000];
      await until(() => effects.size >= enough && Date.now() > early);
      await broker.kill();
      await until(async () => failures > 0 && !(await bus.isReady()));
      await broker.restart();
      await until(() => bus.isReady());
      clearInterval(stream);
      await until(() => effects.size === appended.length && waiting.length === 0);
      failures = 0;
    }
    await relay.stop();
    expect(new Set(effects.keys())).toEqual(new Set(idsOf(appended)));
    expect(deliveries).toBeGreaterThanOrEqual(appended.length);
    expect(await place.depthOf(place.topology.deadLetterQueueOf('audit'))).toBe(0);
    process.stderr.write(`${appended.length} events, ${deliveries} deliveries over two kills\n`);
    await place.close();
  });

  it('stores the queues of consumers as durable quorum queues with at-least-once dead-lettering', async () => {
    const place = await openPlace(broker.url);
    const bus = await place.connect();
    await bus.consume({ name: 'audit', handle: async () => undefined });
    const printed = await broker.control(
      '--formatter',
      'json',
      'list_queues',
      'name',
      'durable',
      'arguments',
    );
    const queues: readonly { name: string; durable: boolean; arguments: readonly unknown[][] }[] =
      JSON.parse(printed);
    const found = queues.map(({ name, durable, arguments: args }) => ({
      name,
      durable,
      arguments: Object.fromEntries(args.map(([argument, , value]) => [argument, value])),
    }));
    const queue = place.topology.queueOf('audit');
    expect(found).toContainEqual({
      name: queue,
      durable: true,
      arguments: {
        'x-queue-type': 'quorum',
        'x-delivery-limit': 30,
        'x-dead-letter-exchange': place.topology.deadLetters,
        'x-dead-letter-routing-key': queue,
        'x-dead-letter-strategy': 'at-least-once',
        'x-overflow': 'reject-publish',
      },
    });
    expect(found).toContainEqual({
      name: place.topology.deadLetterQueueOf('audit'),
      durable: true,
      arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': 1_000_000 },
    });
    await place.close();
  });

  it('refuses new events during a memory alarm, but delivers earlier events', async () => {
    const place = await openPlace(broker.url);
    const bus = await place.connect({ confirmWithinMs: 3000, retryAfterMs: [] });
    const handed: CloudEvent[] = [];
    const { promise: alarm, resolve: alarmed } = Promise.withResolvers<void>();
    const handle = async (event: CloudEvent) => {
      await alarm;
      handed.push(event);
    };
    await bus.consume({ name: 'audit', handle });
    const before = someEvents(50);
    await bus.publish(before);
    await broker.control('set_vm_memory_high_watermark', '0.000001');
    const during = anEvent();
    await expect(bus.publish([during])).rejects.toThrow(/did not confirm within|accepts no events/);
    await until(async () => !(await bus.isReady()));
    await expect(bus.publish([during])).rejects.toThrow('RabbitMQ accepts no events');
    alarmed();
    await until(() => handed.length === before.length);
    await broker.control('set_vm_memory_high_watermark', '0.4');
    await until(() => bus.isReady());
    await bus.publish([during]);
    await until(() => idsOf(handed).includes(during.id));
    const messages = place.log
      .filter(({ message }) => message.includes('events'))
      .map(({ message }) => message);
    expect(messages).toEqual([
      'RabbitMQ accepts no events, so they wait in the outbox',
      'RabbitMQ accepts events again',
    ]);
    await place.close();
  });
});
