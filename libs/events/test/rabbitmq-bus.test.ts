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

/** Returns a consumer that records each event. */
function aCollector(name: string) {
  const handed: CloudEvent[] = [];
  return { handed, consumer: { name, handle: async (event: CloudEvent) => void handed.push(event) } };
}

/** Returns an event with as much ciphertext as a typical order. */
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

  it('waits for a known consumer that has never run', async () => {
    const { consumer, handed } = aCollector('later');
    const publisher = await place.connect({ knownConsumers: [consumer] });
    const events = someEvents(3);
    await publisher.publish(events);
    const bus = await place.connect();
    await bus.consume(consumer);
    await until(() => handed.length === events.length);
    expect(idsOf(handed)).toEqual(idsOf(events));
  });

  it('is refused until a consumer has a queue for it', async () => {
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

  it('is confirmed in concurrent batches', async () => {
    const bus = await place.connect();
    const { consumer, handed } = aCollector('many');
    await bus.consume(consumer);
    const batches = Array.from({ length: 20 }, () => someEvents(100));
    await Promise.all(batches.map((batch) => bus.publish(batch)));
    await until(() => handed.length === 2000);
    expect(new Set(idsOf(handed))).toEqual(new Set(idsOf(batches.flat())));
  });

  it('is sent over a connection with TCP_NODELAY', async () => {
    // A message of more than 2 kB takes two writes, and the second would wait for a delayed TCP
    // acknowledgement.
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

  it('is refused without a connection', async () => {
    const bus = await place.connect({ url: 'amqp://guest:guest@127.0.0.1:1' });
    await expect(bus.publish([anEvent()])).rejects.toThrow('RabbitMQ is not connected');
    expect(await bus.isReady()).toBe(false);
  });

  it('is refused by a stopped bus', async () => {
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

  it('receives only the types of its newest version, even of queued events', async () => {
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

  it('handles other events while one waits for its retry', async () => {
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
    // Stopping does not wait for the retry. The event returns to its queue when the broker notices that the
    // channel is closed.
    await until(async () => (await place.depthOf(place.topology.queueOf('patient'))) === 1);
  });

  it('handles the other events of a batch while the failing event waits for its retry', async () => {
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
    // All other events are acknowledged, including later ones.
    await until(async () => (await place.depthOf(place.topology.queueOf('batches'))) === 1);
  });

  it('attempts only a few events while everything fails, and handles all of them later', async () => {
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
      // Prevents further acknowledgements on this connection.
      proxy.refuse(true);
      await until(async () => !(await bus.isReady()));
      proxy.refuse(false);
    };
    const publisher = await place.connect({ knownConsumers: [{ name: 'batches' }] });
    const events = someEvents(200);
    await publisher.publish(events);
    await bus.consume({ name: 'batches', handleAll });
    // The events of the first batch are delivered twice. A stopping bus returns undelivered events to the
    // queue.
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

  it('is refused if its name is taken or not valid for a queue', async () => {
    const bus = await place.connect();
    await bus.consume(aCollector('one').consumer);
    await expect(bus.consume(aCollector('one').consumer)).rejects.toThrow(TypeError);
    const { handle } = aCollector('x').consumer;
    await expect(bus.consume({ name: 'one.dead-letters', handle })).rejects.toThrow(TypeError);
  });
});

describe('the connections to RabbitMQ', () => {
  it('are reopened after a loss, and resubscribe the consumers', async () => {
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
      // The publishing connection may notice its loss later than the consuming one.
      const refusal = () => bus.publish([event]).catch(({ message }: Error) => message);
      await until(async () => (await refusal()) === 'RabbitMQ is not connected');
      proxy.refuse(false);
    }
    await bus.stop();
    await proxy.stop();
    expect(idsOf(handed)).toEqual(idsOf(events));
  });

  it('log once when they are lost and once when they are restored', async () => {
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

  it('are opened later if the broker is down when the bus starts', async () => {
    const proxy = await startStallingProxy(brokerUrl);
    proxy.refuse(true);
    const bus = await place.connect({ url: proxy.url });
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

  it.concurrent('are closed if the broker does not confirm in time, and publish rejects', async () => {
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

  it.concurrent('can be stopped while the broker does not respond', async () => {
    const own = await openPlace();
    const proxy = await startStallingProxy(brokerUrl);
    const bus = await own.connect({ url: proxy.url });
    proxy.stall();
    await bus.stop();
    await proxy.stop();
    expect(await bus.isReady()).toBe(false);
    await own.close();
  });

  it('are closed if the broker does not open channels in time', async () => {
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

  it('recreate and resubscribe a deleted queue', async () => {
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

  it('are refused for an invalid address, which the error does not contain', async () => {
    const attempt = place.connect({ url: 'http://guest:secret@127.0.0.1' });
    await expect(attempt).rejects.toThrow(
      new TypeError('The address of RabbitMQ must be amqp://… or amqps://…'),
    );
  });
});
