import { within } from '@clinical-launch/runtime/clock';
import type { ConfirmChannel, Message } from 'amqplib';

export type OutgoingMessage = {
  readonly routingKey: string;
  readonly messageId: string;
  readonly content: Buffer;
  readonly headers: Readonly<Record<string, unknown>>;
};

/** Thrown if the broker did not confirm in time. It may or may not have the messages. */
export class ConfirmTimeoutError extends Error {
  override name = 'ConfirmTimeoutError';
}

/** Thrown if no queue is bound for a message, so that the broker would have dropped it. */
export class UnroutableError extends Error {
  override name = 'UnroutableError';
}

/** The media type of every message: structured content mode (CloudEvents AMQP binding section 3.2). */
export const contentType = 'application/cloudevents+json';

/**
 * Publishes messages, and resolves when the broker has confirmed all of them (publisher confirms). Sends all
 * messages before it waits for confirms.
 * @throws UnroutableError if no queue is bound for a message. The broker confirms such messages too, so the
 * flag `mandatory` makes it return them
 * @throws ConfirmTimeoutError if the broker does not answer, for instance during a memory alarm
 * @throws Error if a message is refused or the channel ends. After any of these errors, the other messages
 * may have arrived
 */
export async function publishConfirmed(
  channel: ConfirmChannel,
  messages: readonly OutgoingMessage[],
  { exchange, timeoutMs }: { readonly exchange: string; readonly timeoutMs: number },
): Promise<void> {
  const returned = new Set<unknown>();
  const onReturn = ({ properties }: Message) => returned.add(properties.messageId);
  const send = (message: OutgoingMessage) =>
    new Promise<void>((resolve, reject) => {
      const { routingKey, messageId, content, headers } = message;
      const options = { persistent: true, mandatory: true, contentType, messageId, headers };
      channel.publish(exchange, routingKey, content, options, (error: unknown) => {
        if (error === null) resolve();
        else reject(new Error('RabbitMQ refused a message', { cause: error }));
      });
    });

  channel.on('return', onReturn);
  try {
    await within(timeoutMs, Promise.all(messages.map(send)), () => timeout(timeoutMs));
  } finally {
    channel.off('return', onReturn);
  }
  // The broker always returns a message before it confirms it.
  const lost = messages.filter(({ messageId }) => returned.has(messageId));
  if (lost.length > 0) throw unroutable(lost.length, messages.length);
}

const timeout = (ms: number) =>
  new ConfirmTimeoutError(`RabbitMQ did not confirm within ${ms} ms. It may or may not have the messages`);

const unroutable = (some: number, all: number) =>
  new UnroutableError(`No queue is bound for ${some} of ${all} messages`);
