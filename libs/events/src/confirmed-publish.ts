import { withTimeout } from '@clinical-launch/runtime/clock';
import type { ConfirmChannel, Message } from 'amqplib';

export type OutgoingMessage = {
  readonly routingKey: string;
  readonly messageId: string;
  readonly content: Buffer;
  readonly headers: Readonly<Record<string, unknown>>;
};

/**
 * The error that is thrown if the broker did not confirm in time. The messages may or may not have arrived.
 */
export class ConfirmTimeoutError extends Error {
  override name = 'ConfirmTimeoutError';
}

/**
 * The error that is thrown if no queue is bound for a message. Without the flag `mandatory`, the broker would
 * drop the message.
 */
export class UnroutableError extends Error {
  override name = 'UnroutableError';
}

/**
 * The media type of every message, for the structured content mode (CloudEvents AMQP binding section 3.2).
 */
export const contentType = 'application/cloudevents+json';

/**
 * Publishes messages, and resolves when the broker has confirmed all of them (publisher confirms). Sends all
 * messages before it waits for confirms. If it rejects, some messages may have arrived.
 * @throws UnroutableError if no queue is bound for a message. The broker confirms such a message too, but
 *   first returns it because of the flag `mandatory`
 * @throws ConfirmTimeoutError if the broker does not answer, for instance during a memory alarm
 * @throws Error if a message is refused or the channel ends
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
    await withTimeout(timeoutMs, Promise.all(messages.map(send)), () => timeout(timeoutMs));
  } finally {
    channel.off('return', onReturn);
  }
  // The broker returns an unroutable message before it confirms the message.
  const lost = messages.filter(({ messageId }) => returned.has(messageId));
  if (lost.length > 0) throw unroutable(lost.length, messages.length);
}

const timeout = (ms: number) =>
  new ConfirmTimeoutError(`RabbitMQ did not confirm within ${ms} ms. It may or may not have the messages`);

const unroutable = (some: number, all: number) =>
  new UnroutableError(`No queue is bound for ${some} of ${all} messages`);
