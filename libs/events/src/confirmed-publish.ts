import { within } from '@clinical-launch/runtime/clock';
import type { ConfirmChannel, Message } from 'amqplib';

export type OutgoingMessage = {
  readonly routingKey: string;
  readonly messageId: string;
  readonly content: Buffer;
  readonly headers: Readonly<Record<string, unknown>>;
};

/** The broker did not confirm in time, so it may have the messages or not. */
export class ConfirmTimeoutError extends Error {
  override name = 'ConfirmTimeoutError';
}

/** A message has no queue, so the broker would have dropped it. */
export class UnroutableError extends Error {
  override name = 'UnroutableError';
}

/** CloudEvents AMQP binding section 3.2 (structured content mode) */
/** The media type of every message: CloudEvents in structured mode. */
export const contentType = 'application/cloudevents+json';

/**
 * Publishes messages and resolves when the broker has confirmed every one of them (publisher confirms).
 * Writes them at once and awaits their confirms together.
 * @throws UnroutableError when a message has no queue. The broker confirms such messages too, so the
 * `mandatory` flag makes it return them.
 * @throws ConfirmTimeoutError when the broker is silent, as with a memory alarm
 * @throws Error when a message is refused or the channel ends. After each of these errors the other messages
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
  // A return always comes before the confirm of its message.
  const lost = messages.filter(({ messageId }) => returned.has(messageId));
  if (lost.length > 0) throw unroutable(lost.length, messages.length);
}

const timeout = (ms: number) =>
  new ConfirmTimeoutError(`RabbitMQ did not confirm within ${ms} ms. It may have the messages or not`);

const unroutable = (some: number, all: number) =>
  new UnroutableError(`No queue is bound for ${some} of ${all} messages`);
