import { setImmediate as turn } from 'node:timers/promises';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { EventVerifier } from '@clinical-launch/crypto/event-macs';
import { pause } from '@clinical-launch/runtime/clock';
import type { Channel, ConsumeMessage } from 'amqplib';
import type { OutgoingMessage } from './confirmed-publish.ts';
import type { Consumer } from './event-bus.ts';
import { attemptsOf, readEvent, toDeadLetter } from './event-message.ts';
import { batchSizeOf, handleInParts } from './handle-in-parts.ts';
import type { BusLogger } from './rabbitmq-link.ts';

export type DeliveryDependencies = {
  readonly queue: string;
  readonly consumer: Consumer;
  readonly logger: BusLogger;
  /** The waits between attempts in milliseconds. Two waits mean three attempts. */
  readonly retryAfterMs: readonly number[];
  /** Calls `work` after all work of earlier calls has completed. */
  readonly takeTurn: (work: () => Promise<void>) => Promise<void>;
  /** Sends a message to the dead-letter exchange, and resolves when the broker has stored the message. */
  readonly bury: (letter: OutgoingMessage) => Promise<void>;
  /** Verifies that the service in `source` wrote an event, before the event is handled. */
  readonly verify?: EventVerifier | undefined;
};

type Received = { readonly message: ConsumeMessage; readonly event: CloudEvent };

/**
 * The maximum number of events that wait for their next attempt. When it is reached, no other event is
 * attempted. If every event fails, for instance because the database is down, only these events use up their
 * attempts.
 */
const maxAside = 32;

/**
 * Processes the messages of a channel. If the consumer handles batches, waiting messages are handled and
 * acknowledged together. A failed message returns to the queue after a wait, during which other messages are
 * handled. A message becomes a dead letter after its last attempt, or if it is not an event, or if its
 * verification fails. After `ending` aborts, no message is passed to the consumer, and no wait continues.
 */
export class ChannelDeliveries {
  readonly #dependencies: DeliveryDependencies;
  readonly #ending: AbortSignal;
  readonly #unsettled: UnsettledMessages;
  readonly #underWay = new Set<Promise<void>>();
  #waiting: Received[] = [];
  #aside = 0;
  #isHandling = false;

  constructor(dependencies: DeliveryDependencies, channel: Channel, ending: AbortSignal) {
    this.#dependencies = dependencies;
    this.#ending = ending;
    this.#unsettled = new UnsettledMessages(channel);
  }

  receive(message: ConsumeMessage): void {
    this.#unsettled.add(message);
    const { verify, consumer } = this.#dependencies;
    try {
      const read = readEvent(message);
      const event = verify?.(read) ?? read;
      // The event is in the queue because an earlier release of the consumer had a binding for its type.
      if (consumer.types?.includes(event.type) === false) this.#unsettled.acknowledge([message]);
      else this.#waiting.push({ message, event });
    } catch (error) {
      this.#track(this.#bury(message, { error }));
    }
    this.#begin();
  }

  async end(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #track(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  #begin(): void {
    if (this.#isHandling || this.#waiting.length === 0 || this.#isFull()) return;
    this.#isHandling = true;
    this.#track(
      this.#handleWaiting().finally(() => {
        this.#isHandling = false;
        this.#begin();
      }),
    );
  }

  readonly #isFull = () => this.#aside >= maxAside && !this.#ending.aborted;

  async #handleWaiting(): Promise<void> {
    const { consumer, queue, takeTurn } = this.#dependencies;
    // Waits for the other messages in the same packet, which arrive in this turn of the event loop.
    await turn();
    await takeTurn(async () => {
      const batch = this.#waiting.splice(0, batchSizeOf(consumer));
      const left = await handleInParts(consumer, batch, {
        origin: { system: 'rabbitmq', queue },
        mayBegin: () => !this.#ending.aborted && !this.#isFull(),
        onHandled: (handled) => this.#unsettled.acknowledge(handled.map(({ message }) => message)),
        onFailed: (received, error) => this.#track(this.#fail(received, error)),
      });
      this.#waiting.unshift(...left);
    });
    if (!this.#ending.aborted) return;
    for (const { message } of this.#waiting.splice(0)) this.#unsettled.giveBack(message);
  }

  async #fail({ message, event }: Received, error: unknown): Promise<void> {
    const attempt = attemptsOf(message);
    const waitMs = this.#dependencies.retryAfterMs[attempt - 1];
    if (waitMs === undefined) return this.#bury(message, { error, event });
    const fields = { ...this.#fieldsOf(event), attempt, err: error };
    this.#dependencies.logger.warn(fields, 'an event was not handled and will be delivered again');
    this.#aside += 1;
    await pause(waitMs, this.#ending);
    this.#aside -= 1;
    this.#unsettled.retry(message);
    this.#begin();
  }

  async #bury(message: ConsumeMessage, { error, event }: Failed): Promise<void> {
    const { logger, bury, queue } = this.#dependencies;
    const fields = { ...this.#fieldsOf(event), attempt: attemptsOf(message), err: error };
    logger.error(fields, 'an event was not handled and is now a dead letter');
    try {
      await bury(toDeadLetter(message, queue, error));
      this.#unsettled.acknowledge([message]);
    } catch {
      // The dead letter could not be sent, so the broker dead-letters the message, without the reason.
      this.#unsettled.discard(message);
    }
  }

  #fieldsOf(event: CloudEvent | undefined) {
    return {
      consumer: this.#dependencies.consumer.name,
      eventId: event?.id,
      eventType: event?.type,
      correlationId: event?.correlationid,
    };
  }
}

type Failed = { readonly error: unknown; readonly event?: CloudEvent };

/**
 * Tracks the messages of a channel that are neither acknowledged nor returned. Can acknowledge many messages
 * with one frame. After the channel is closed, does nothing, because the broker has already requeued the
 * messages.
 */
class UnsettledMessages {
  readonly #channel: Channel;
  /** The delivery tags in ascending order, which is the order of delivery (AMQP 0-9-1: delivery-tag). */
  readonly #tags = new Set<number>();

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  add({ fields }: ConsumeMessage): void {
    this.#tags.add(fields.deliveryTag);
  }

  /**
   * Acknowledges handled messages. One frame acknowledges all of these messages that are older than every
   * unsettled message.
   */
  acknowledge(messages: readonly ConsumeMessage[]): void {
    for (const message of messages) this.#remove(message);
    const [oldest = Number.POSITIVE_INFINITY] = this.#tags;
    const isBefore = ({ fields }: ConsumeMessage) => fields.deliveryTag < oldest;
    const last = messages.filter(isBefore).at(-1);
    if (last !== undefined) this.#send(() => this.#channel.ack(last, true));
    for (const message of messages) if (!isBefore(message)) this.#send(() => this.#channel.ack(message));
  }

  /** Returns a failed message to its queue, which delivers the message again. */
  retry(message: ConsumeMessage): void {
    this.#remove(message);
    this.#send(() => this.#channel.reject(message, true));
  }

  /** Puts a message that was not passed to the consumer back into its queue. */
  giveBack(message: ConsumeMessage): void {
    this.#remove(message);
    // RabbitMQ 4.3 and later count a reject as a failed delivery, but not a nack. Earlier releases count a
    // nack too.
    this.#send(() => this.#channel.nack(message, false, true));
  }

  discard(message: ConsumeMessage): void {
    this.#remove(message);
    this.#send(() => this.#channel.reject(message, false));
  }

  #remove({ fields }: ConsumeMessage): void {
    this.#tags.delete(fields.deliveryTag);
  }

  #send(frame: () => void): void {
    try {
      frame();
    } catch {
      // The channel is closed, so the broker has already requeued its messages.
    }
  }
}
