import type { Channel, ConsumeMessage } from 'amqplib';

/**
 * Tracks the messages of a channel that are neither acknowledged nor returned. Can acknowledge many messages
 * with one frame. After the channel is closed, does nothing, because the broker has already requeued the
 * messages.
 */
export class UnsettledMessages {
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

  /** Makes the broker dead-letter a message. */
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
