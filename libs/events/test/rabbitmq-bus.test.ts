import { Socket } from 'node:net';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { until } from '@clinical-launch/testing/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listDeadLetters } from '../src/dead-letters.ts';
import { keepConnected } from '../src/rabbitmq-link.ts';
import { describeEventBus } from './event-bus-contract.ts';
import { anEvent, idsOf, someEvents } from './events.ts';
import { brokerUrl, openPlace, type Place } from './rabbitmq-place.ts';
import { startStallingProxy } from './stalling-proxy.ts';

describeEventBus('RabbitMQ', async () => {
  const place = await openPlace();
  return {
    bus: await place.connect(),
    deliveries: 3,
    deadLetters: async (consumer) =>
      (await listDeadLetters(place.broker, consumer)).flatMap(({ event }) => event ?? []),
    close: () => place.close(),
  };
});

let place: Place;
beforeEach(async () => {
  place = await openPlace();
});
afterEach(() => place.close());

/** Returns a consumer, and the list of events that it has received. */
function aCollector(name: string) {
  const handed: CloudEvent[] = [];
  return { handed, consumer: { name, handle: async (event: CloudEvent) => void handed.push(event) } };
}

/** Returns an event of the size of a typical submitted order. */
const aLargeEvent = (event: CloudEvent): CloudEvent => ({
  ...event,
  type: 'order.submitted.v1',
  data: {
    orderGuid: event.id,
    launchId: event.id,
    issuer: 'https://idp.example',
    clientId: 'pms',
    batches: 1,
    tests: 1,
    sealed: 'c'.repeat(4000),
  },
});

describe('an event published to RabbitMQ', () => {
  it('is a persistent CloudEvent in structured mode, routed by its type', async () => {
    const bus = await place.connect();
    await bus.consume(aCollector('first').consumer);
    await bus.stop();
    const publisher = await place.connect();
    const event = anEvent();
    await publisher.publish([event]);
    const message = await place.withChannel((channel) => channel.get(place.topology.queueOf('first')));
    if (message === false) throw new Error('There is no message');
    expect(JSON.parse(message.content.toString())).toEqual(event);
    expect(message.fields).toMatchObject({ exchange: place.topology.events, routingKey: event.type });
    expect(message.properties).toMatchObject({
      contentType: 'application/cloudevents+json',
      deliveryMode: 2,
      messageId: event.id,
      headers: { traceparent: event.traceparent },
    });
  });

  it('waits in the queue of a consumer in `knownConsumers` that has never run', async () => {
    const { consumer, handed } = aCollector('later');
    const publisher = await place.connect({ knownConsumers: [consumer] });
    const events = someEvents(3);
    await publisher.publish(events);
    const bus = await place.connect();
    await bus.consume(consumer);
    await until(() => handed.length === events.length);
    expect(idsOf(handed)).toEqual(idsOf(events));
  });

  it('is refused until a consumer has declared a queue for its type', async () => {
    const bus = await place.connect();
    const { consumer, handed } = aCollector('late');
    const events = someEvents(3);
    await expect(bus.publish(events)).rejects.toThrow('No queue is bound for 3 of 3 messages');
    await bus.consume(consumer);
    await bus.publish(events);
    await until(() => handed.length === 3);
    expect(handed).toEqual(events);
  });

  it('is refused if another event of its batch cannot be routed', async () => {
    const bus = await place.connect();
    const { consumer } = aCollector('some');
    await bus.consume({ ...consumer, types: ['launch.token.redeemed.v1'] });
    await expect(bus.publish([anEvent(), anEvent('launch.token.refused.v1')])).rejects.toThrow(
      'No queue is bound for 1 of 2 messages',
    );
  });

  it('is delivered when many batches are published concurrently', async () => {
    const bus = await place.connect();
    const { consumer, handed } = aCollector('many');
    await bus.consume(consumer);
    const batches = Array.from({ length: 20 }, () => someEvents(100));
    await Promise.all(batches.map((batch) => bus.publish(batch)));
    await until(() => handed.length === 2000);
    expect(new Set(idsOf(handed))).toEqual(new Set(idsOf(batches.flat())));
  });

  it('is sent over a connection with TCP_NODELAY', async () => {
    // amqplib writes a message of more than 2 kB in two parts. Without TCP_NODELAY, the second part would
    // wait for the acknowledgement of the first part, and TCP delays acknowledgements.
    const sockets = new Map<Socket, boolean>();
    const own = Object.getOwnPropertyDescriptor(Socket.prototype, 'setNoDelay') ?? {};
    Socket.prototype.setNoDelay = function (isOn) {
      sockets.set(this, isOn ?? true);
      return own.value.call(this, isOn);
    };
    try {
      const bus = await place.connect();
      await bus.publish([aLargeEvent(anEvent())]).catch(() => undefined);
    } finally {
      Object.defineProperty(Socket.prototype, 'setNoDelay', own);
    }
    const port = Number(new URL(brokerUrl).port);
    const toBroker = [...sockets].filter(([{ remotePort }]) => remotePort === port);
    expect(toBroker.map(([, isOn]) => isOn)).toEqual(toBroker.map(() => true));
    expect(toBroker.length).toBeGreaterThan(0);
  });

  it('is refused while the bus is not connected', async () => {
    const bus = await place.connect({ url: 'amqp://guest:guest@127.0.0.1:1' });
    await expect(bus.publish([anEvent()])).rejects.toThrow('RabbitMQ is not connected');
    expect(await bus.isReady()).toBe(false);
  });

  it('is refused after the bus was stopped', async () => {
    const bus = await place.connect();
    await bus.stop();
    await expect(bus.publish([anEvent()])).rejects.toThrow('RabbitMQ is not connected');
  });
});

describe('a consumer on RabbitMQ', () => {
  it('shares its events between two instances', async () => {
    const [one, two] = [aCollector('shared'), aCollector('shared')];
    const instances = [await place.connect({ prefetch: 1 }), await place.connect({ prefetch: 1 })];
    await instances[0]?.consume(one.consumer);
    await instances[1]?.consume(two.consumer);
    const events = someEvents(200);
    await instances[0]?.publish(events);
    await until(() => one.handed.length + two.handed.length === 200);
    expect(new Set(idsOf([...one.handed, ...two.handed]))).toEqual(new Set(idsOf(events)));
    expect(Math.min(one.handed.length, two.handed.length)).toBeGreaterThan(0);
  });

  it('receives the events published while no instance was running', async () => {
    const before = await place.connect();
    await before.consume(aCollector('away').consumer);
    await before.stop();
    const events = someEvents(5);
    const after = await place.connect();
    await after.publish(events);
    const { consumer, handed } = aCollector('away');
    await after.consume(consumer);
    await until(() => handed.length === 5);
    expect(handed).toEqual(events);
  });

  it('receives only the types of its newest subscription, even if events of other types are in its queue', async () => {
    const before = await place.connect();
    await before.consume(aCollector('changed').consumer);
    await before.stop();
    const bus = await place.connect();
    await bus.publish([anEvent('launch.token.refused.v1')]);
    const { consumer, handed } = aCollector('changed');
    await bus.consume({ ...consumer, types: ['launch.token.redeemed.v1'] });
    await expect(bus.publish([anEvent('launch.token.refused.v1')])).rejects.toThrow('No queue is bound');
    const wanted = anEvent();
    await bus.publish([wanted]);
    await until(() => handed.length > 0);
    expect(handed).toEqual([wanted]);
    await bus.stop();
    expect(await place.depthOf(place.topology.queueOf('changed'))).toBe(0);
  });

  it('handles the next event while a failed event waits for its retry', async () => {
    const bus = await place.connect({ retryAfterMs: [3_600_000] });
    const [bad, good] = [anEvent(), anEvent()];
    const handed: CloudEvent[] = [];
    const handle = async (event: CloudEvent) => {
      handed.push(event);
      if (event.id === bad.id) throw new Error('the consumer fails');
    };
    await bus.consume({ name: 'patient', handle });
    await bus.publish([bad, good]);
    await until(() => handed.length === 2);
    expect(handed).toEqual([bad, good]);
    await bus.stop();
    // stop() does not wait for the retry. The broker returns the event to its queue when the channel closes.
    await until(async () => (await place.depthOf(place.topology.queueOf('patient'))) === 1);
  });

  it('handles the other events of a batch while the failed event waits for its retry', async () => {
    const bus = await place.connect({ retryAfterMs: [3_600_000] });
    const events = someEvents(600);
    const bad = events[300];
    const stored: string[] = [];
    const handleAll = async (batch: readonly CloudEvent[]) => {
      if (batch.some(({ id }) => id === bad?.id)) throw new Error('the consumer fails');
      stored.push(...idsOf(batch));
    };
    await bus.consume({ name: 'batches', handleAll });
    await bus.publish(events);
    await until(() => stored.length === events.length - 1);
    expect(stored).toEqual(idsOf(events.filter((event) => event !== bad)));
    await bus.stop();
    // Only the failed event is in the queue, so all other events were acknowledged.
    await until(async () => (await place.depthOf(place.topology.queueOf('batches'))) === 1);
  });

  it('attempts at most 32 events individually while every event fails, and handles all events after the recovery', async () => {
    const bus = await place.connect({ retryAfterMs: [500, 3_600_000] });
    let isDown = true;
    const tried = new Set<string>();
    const stored: string[] = [];
    const handleAll = async (batch: readonly CloudEvent[]) => {
      if (isDown && batch.length === 1) for (const id of idsOf(batch)) tried.add(id);
      if (isDown) throw new Error('the database is unavailable');
      stored.push(...idsOf(batch));
    };
    await bus.consume({ name: 'batches', handleAll });
    const events = someEvents(400);
    await bus.publish(events);
    await until(() => tried.size === 32);
    isDown = false;
    await until(() => stored.length === events.length);
    expect(new Set(stored)).toEqual(new Set(idsOf(events)));
    expect(tried.size).toBe(32);
  });

  it('receives a handled batch again if the connection was lost before the acknowledgement', async () => {
    const proxy = await startStallingProxy(brokerUrl);
    const bus = await place.connect({ url: proxy.url });
    const effects = new Set<string>();
    let deliveries = 0;
    let unacknowledged = 0;
    const handleAll = async (batch: readonly CloudEvent[]) => {
      deliveries += batch.length;
      for (const id of idsOf(batch)) effects.add(id);
      if (deliveries > batch.length) return;
      unacknowledged = batch.length;
      // Cuts the connection, so that the batch cannot be acknowledged.
      proxy.refuse(true);
      await until(async () => !(await bus.isReady()));
      proxy.refuse(false);
    };
    const publisher = await place.connect({ knownConsumers: [{ name: 'batches' }] });
    const events = someEvents(200);
    await publisher.publish(events);
    await bus.consume({ name: 'batches', handleAll });
    // Waits until the first batch was delivered twice, because `stop` returns unhandled events to the queue.
    await until(() => unacknowledged > 0 && deliveries >= events.length + unacknowledged);
    await bus.stop();
    await proxy.stop();
    expect(await place.depthOf(place.topology.queueOf('batches'))).toBe(0);
    expect(effects).toEqual(new Set(idsOf(events)));
  });

  it('returns unhandled events to its queue when it stops', async () => {
    const bus = await place.connect();
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const handed: CloudEvent[] = [];
    const handle = async (event: CloudEvent) => {
      handed.push(event);
      await mayEnd;
    };
    await bus.consume({ name: 'slow', handle });
    await bus.publish(someEvents(10));
    await until(() => handed.length === 1);
    const stopped = bus.stop();
    end();
    await stopped;
    expect(handed).toHaveLength(1);
    await until(async () => (await place.depthOf(place.topology.queueOf('slow'))) === 9);
  });

  it('is refused if its name is in use or not valid as a queue name', async () => {
    const bus = await place.connect();
    await bus.consume(aCollector('one').consumer);
    await expect(bus.consume(aCollector('one').consumer)).rejects.toThrow(TypeError);
    const { handle } = aCollector('x').consumer;
    await expect(bus.consume({ name: 'one.dead-letters', handle })).rejects.toThrow(TypeError);
  });

  it('is refused if it may retry an event as often as the broker delivers it', async () => {
    const bus = await place.connect({ retryAfterMs: Array.from({ length: 30 }, () => 0) });
    await expect(bus.consume(aCollector('patient').consumer)).rejects.toThrow('at most 29 times');
  });
});

describe('the connections to RabbitMQ', () => {
  it('are reopened after they were lost, and the consumers receive events again', async () => {
    const proxy = await startStallingProxy(brokerUrl);
    const bus = await place.connect({ url: proxy.url });
    const { consumer, handed } = aCollector('faithful');
    await bus.consume(consumer);
    const events = someEvents(3);
    for (const event of events) {
      await until(() => bus.isReady());
      await bus.publish([event]);
      await until(() => idsOf(handed).includes(event.id));
      proxy.refuse(true);
      await until(async () => !(await bus.isReady()));
      // The connection for publishing may notice the loss later than the connection for consuming.
      const refusal = () => bus.publish([event]).catch(({ message }: Error) => message);
      await until(async () => (await refusal()) === 'RabbitMQ is not connected');
      proxy.refuse(false);
    }
    await bus.stop();
    await proxy.stop();
    expect(idsOf(handed)).toEqual(idsOf(events));
  });

  it('are logged once when they are lost and once when they are restored', async () => {
    const proxy = await startStallingProxy(brokerUrl);
    const bus = await place.connect({ url: proxy.url });
    proxy.refuse(true);
    await until(async () => !(await bus.isReady()));
    await until(() => proxy.refused() >= 5);
    proxy.refuse(false);
    await until(() => bus.isReady());
    await bus.stop();
    await proxy.stop();
    expect(place.log.map(({ level, message }) => [level, message])).toEqual([
      ['info', 'RabbitMQ is connected'],
      ['warn', 'RabbitMQ is unavailable, reconnecting'],
      ['info', 'RabbitMQ is connected'],
    ]);
  });

  it('are opened when the broker becomes available, if it is down when the bus starts', async () => {
    const proxy = await startStallingProxy(brokerUrl);
    proxy.refuse(true);
    const logged = place.log.length;
    const bus = await place.connect({ url: proxy.url });
    expect(place.log.slice(logged).map(({ message }) => message)).toEqual([
      'RabbitMQ is unavailable, reconnecting',
    ]);
    const { consumer, handed } = aCollector('early');
    await bus.consume(consumer);
    expect(await bus.isReady()).toBe(false);
    proxy.refuse(false);
    await until(() => bus.isReady());
    const event = anEvent();
    await bus.publish([event]);
    await until(() => handed.length > 0);
    await bus.stop();
    await proxy.stop();
    expect(handed).toEqual([event]);
  });

  it.concurrent('are closed, and publish rejects, if the broker does not confirm in time', async () => {
    const own = await openPlace();
    const proxy = await startStallingProxy(brokerUrl);
    const consuming = await own.connect();
    const { consumer, handed } = aCollector('waiting');
    await consuming.consume(consumer);
    const bus = await own.connect({ url: proxy.url, confirmWithinMs: 3000 });
    proxy.stall();
    const events = someEvents(3);
    await expect(bus.publish(events)).rejects.toThrow('RabbitMQ did not confirm within 3000 ms');
    await until(async () => !(await bus.isReady()));
    proxy.flow();
    await until(() => bus.isReady());
    await bus.publish(events);
    await until(() => idsOf(handed).length === 3);
    await bus.stop();
    await proxy.stop();
    await own.close();
  });

  it.concurrent('can be closed by stop() while the broker does not respond', async () => {
    const own = await openPlace();
    const proxy = await startStallingProxy(brokerUrl);
    const bus = await own.connect({ url: proxy.url });
    proxy.stall();
    await bus.stop();
    await proxy.stop();
    expect(await bus.isReady()).toBe(false);
    await own.close();
  });

  it('are retried if the broker does not open channels in time', async () => {
    let attempts = 0;
    const link = await keepConnected({
      url: brokerUrl,
      name: 'unanswered',
      logger: { info() {}, warn() {}, error() {} },
      reconnectAfterMs: { least: 1, most: 1 },
      openWithinMs: 10,
      open: async () => {
        attempts += 1;
        return attempts < 3 ? Promise.withResolvers<string>().promise : 'open';
      },
      close: async () => undefined,
    });
    expect(link.session()).toBeUndefined();
    await until(() => link.session() === 'open');
    expect(attempts).toBe(3);
    await link.stop();
  });

  it('recreate a deleted queue and subscribe to it again', async () => {
    const bus = await place.connect();
    const { consumer, handed } = aCollector('robbed');
    await bus.consume(consumer);
    const queue = place.topology.queueOf('robbed');
    await place.withChannel((channel) => channel.deleteQueue(queue));
    const event = anEvent();
    await until(() =>
      bus.publish([event]).then(
        () => true,
        () => false,
      ),
    );
    await until(() => handed.length > 0);
    expect(handed[0]).toEqual(event);
  });

  it('are refused if the broker address is invalid, with an error that does not contain the address', async () => {
    const attempt = place.connect({ url: 'http://guest:secret@127.0.0.1' });
    await expect(attempt).rejects.toThrow(
      new TypeError('The address of RabbitMQ must be amqp://… or amqps://…'),
    );
  });
});
