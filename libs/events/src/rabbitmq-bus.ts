import {
  assertReceivedEvent,
  type CloudEvent,
  type WrittenEvent,
} from '@clinical-launch/contracts/events/cloud-event';
import type { EventVerifier, EventWriter } from '@clinical-launch/crypto/event-macs';
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import { ConfirmTimeoutError, type OutgoingMessage, publishConfirmed } from './confirmed-publish.ts';
import type { Consumer, EventBus } from './event-bus.ts';
import { toMessage } from './event-message.ts';
import { inPublishSpan } from './message-spans.ts';
import { declareTopology } from './rabbitmq-declare.ts';
import { type ConnectionOptions, keepConnected, type Link } from './rabbitmq-link.ts';
import { type Subscription, subscribe } from './rabbitmq-subscription.ts';
import { type Broker, type Topology, topologyOf } from './rabbitmq-topology.ts';

type RabbitMqOptions = Broker &
  ConnectionOptions & {
    /** Consumers whose queues the bus declares, so that no event is lost before a consumer starts. */
    readonly knownConsumers?: readonly Pick<Consumer, 'name' | 'types'>[];
    /** The number of messages that a consumer prefetches. The default is enough for the next batch. */
    readonly prefetch?: number;
    /** The waits between attempts to handle an event, in milliseconds. Two waits mean three attempts. */
    readonly retryAfterMs?: readonly number[];
    /** The maximum time in milliseconds that the broker may take to confirm published events. */
    readonly confirmWithinMs?: number;
    /** Converts events to JSON and signs them. Events that an outbox has signed keep their signature. */
    readonly writeEvent?: EventWriter;
    /**
     * Returns the verifier of a consumer by its name. An event that fails verification becomes a dead letter
     * and is not handled.
     */
    readonly verifierOf?: (consumer: string) => EventVerifier | undefined;
  };

type Publisher = {
  readonly channel: ConfirmChannel;
  /**
   * Returns the reason why the broker accepts no messages, such as a memory or disk alarm. Returns undefined
   * if the broker accepts messages.
   */
  blockage(): string | undefined;
};

/**
 * The waits are four minutes in total, so that events do not become dead letters while a database restarts.
 */
const defaultRetryAfterMs = [100, 500, 2000, 5000, 10_000, 30_000, 60_000, 60_000, 60_000];

/**
 * Connects to RabbitMQ, and reconnects when the connection is lost. Resolves even if the broker is down, so
 * that a service can start without the broker. The events of the service then wait in its outbox.
 * @throws TypeError for an invalid address or namespace
 */
export async function connectRabbitMq(options: RabbitMqOptions): Promise<RabbitMqBus> {
  const { url, logger, reconnectAfterMs } = options;
  const connectionOptions = { url, logger, ...(reconnectAfterMs && { reconnectAfterMs }) };
  const topology = topologyOf(options.namespace);
  const publisher = await keepConnected<Publisher>({
    ...connectionOptions,
    name: 'publisher',
    open: (connection, drop) =>
      openPublisher(connection, drop, { topology, logger, knownConsumers: options.knownConsumers ?? [] }),
    close: ({ channel }) => channel.close(),
  });
  return new RabbitMqBus({
    link: connectionOptions,
    topology,
    publisher,
    prefetch: options.prefetch,
    retryAfterMs: options.retryAfterMs ?? defaultRetryAfterMs,
    confirmWithinMs: options.confirmWithinMs ?? 10_000,
    writeEvent: options.writeEvent ?? JSON.stringify,
    verifierOf: options.verifierOf ?? (() => undefined),
  });
}

type PublisherDependencies = {
  readonly topology: Topology;
  readonly logger: ConnectionOptions['logger'];
  readonly knownConsumers: readonly Pick<Consumer, 'name' | 'types'>[];
};

async function openPublisher(
  connection: ChannelModel,
  drop: (cause: Error) => void,
  { topology, logger, knownConsumers }: PublisherDependencies,
): Promise<Publisher> {
  await declareTopology(connection, { topology, consumers: knownConsumers });
  const channel = await connection.createConfirmChannel();
  // Each batch in progress adds listeners, so Node must not warn about many listeners.
  channel.setMaxListeners(0);
  channel.on('error', drop);
  channel.on('close', () => drop(new Error('The channel was closed')));
  let blockage: string | undefined;
  connection.on('blocked', (reason) => {
    blockage = reason;
    logger.error({ reason }, 'RabbitMQ accepts no events, so they wait in the outbox');
  });
  connection.on('unblocked', () => {
    blockage = undefined;
    logger.info({}, 'RabbitMQ accepts events again');
  });
  return { channel, blockage: () => blockage };
}

type BusDependencies = {
  readonly link: ConnectionOptions;
  readonly topology: Topology;
  readonly publisher: Link<Publisher>;
  readonly prefetch: number | undefined;
  readonly retryAfterMs: readonly number[];
  readonly confirmWithinMs: number;
  readonly writeEvent: EventWriter;
  readonly verifierOf: (consumer: string) => EventVerifier | undefined;
};

/**
 * The bus with RabbitMQ. It has one topic exchange, and for each consumer a quorum queue and a quorum queue
 * for dead letters.
 *
 * Guarantee: after `publish` resolves, an event is in the queue of every consumer of its type, on the disks
 * of a majority of the nodes. It stays there until the consumer has handled it or it is a dead letter. An
 * event may be delivered more than once, so consumers must be idempotent by event id. With several instances
 * of a consumer or after a failure, the order may change.
 */
export class RabbitMqBus implements EventBus {
  readonly #dependencies: BusDependencies;
  readonly #subscriptions = new Map<string, Promise<Subscription>>();
  readonly #publishing = new Set<Promise<void>>();

  constructor(dependencies: BusDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Resolves when the broker has confirmed all events. If it rejects, some events may have arrived. Accepts
   * unknown members, because another release may have written the events to the outbox.
   * @throws TypeError if an event does not match the catalogue. No event is then published
   * @throws UnroutableError if no queue is bound for an event
   * @throws ConfirmTimeoutError if the broker does not answer in time
   * @throws Error immediately if there is no connection or the broker accepts no messages
   */
  async publish(events: readonly CloudEvent[]): Promise<void> {
    for (const event of events) assertReceivedEvent(event);
    const { writeEvent } = this.#dependencies;
    await this.publishWritten(events.map((event) => ({ event, text: writeEvent(event) })));
  }

  /** Publishes events like `publish`, but does not check the events. @throws Error as `publish` does */
  async publishWritten(events: readonly WrittenEvent[]): Promise<void> {
    if (events.length > 0) await this.#send(this.#dependencies.topology.events, events.map(toMessage));
  }

  /**
   * Declares the queue of a consumer and starts to deliver. Resolves even if the broker is down. Delivery
   * then starts when the broker is available.
   * @throws TypeError if the bus already has a consumer with this name, or the name is not valid for a queue
   */
  async consume(consumer: Consumer): Promise<void> {
    const { name } = consumer;
    if (this.#subscriptions.has(name)) throw new TypeError(`The bus already has a consumer ${name}`);
    const { link, topology, prefetch, retryAfterMs, verifierOf } = this.#dependencies;
    const bury = (letter: OutgoingMessage) => this.#send(topology.deadLetters, [letter]);
    const subscription = subscribe({
      link,
      topology,
      consumer,
      prefetch,
      retryAfterMs,
      bury,
      verify: verifierOf(name),
    });
    this.#subscriptions.set(name, subscription);
    await subscription;
  }

  /** Returns true if the broker accepts events and every consumer is subscribed. */
  async isReady(): Promise<boolean> {
    const publisher = this.#dependencies.publisher.session();
    if (publisher === undefined || publisher.blockage() !== undefined) return false;
    const subscriptions = await Promise.all(this.#subscriptions.values());
    return subscriptions.every((subscription) => subscription.isUp());
  }

  /** Stops the consumers, waits for pending publishes, and closes the connections. */
  async stop(): Promise<void> {
    const subscriptions = await Promise.allSettled(this.#subscriptions.values());
    const started = subscriptions.filter((outcome) => outcome.status === 'fulfilled');
    await Promise.all(started.map(({ value }) => value.stop()));
    await Promise.allSettled(this.#publishing);
    await this.#dependencies.publisher.stop();
  }

  async #send(exchange: string, messages: readonly OutgoingMessage[]): Promise<void> {
    const { publisher, confirmWithinMs } = this.#dependencies;
    const session = publisher.session();
    if (session === undefined) throw new Error('RabbitMQ is not connected');
    const blockage = session.blockage();
    if (blockage !== undefined) throw new Error(`RabbitMQ accepts no events: ${blockage}`);
    const options = { exchange, timeoutMs: confirmWithinMs };
    const sending = inPublishSpan(exchange, messages, () =>
      publishConfirmed(session.channel, messages, options),
    );
    this.#publishing.add(sending);
    try {
      await sending;
    } catch (error) {
      // A connection on which no confirm arrives may be dead. A blocked connection recovers without help.
      if (error instanceof ConfirmTimeoutError && session.blockage() === undefined) publisher.drop(error);
      throw error;
    } finally {
      this.#publishing.delete(sending);
    }
  }
}
