import {
  assertReceivedEvent,
  type CloudEvent,
  type WrittenEvent,
} from '@clinical-launch/contracts/events/cloud-event';
import type { Message } from 'amqplib';
import type { OutgoingMessage } from './confirmed-publish.ts';

/**
 * The header with the reason why a message became a dead letter. If the broker dead-letters a message itself,
 * it writes the header `x-death` instead.
 */
const reasonHeader = 'dead-letter-reason';
const attemptsHeader = 'dead-letter-attempts';
const timeHeader = 'dead-letter-time';

const maxReasonLength = 500;

/**
 * Converts an event to a message in structured mode (CloudEvents AMQP binding section 3.2). The event type is
 * the routing key.
 */
export function toMessage({ event, text }: WrittenEvent): OutgoingMessage {
  return {
    routingKey: event.type,
    messageId: event.id,
    content: Buffer.from(text),
    headers: { traceparent: event.traceparent },
  };
}

/**
 * Reads the event in a message.
 * @throws TypeError that lists the invalid paths, without values, if the event does not match the catalogue
 */
export function readEvent({ content }: Pick<Message, 'content'>): CloudEvent {
  const candidate = parse(content);
  assertReceivedEvent(candidate);
  return candidate;
}

function parse(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString());
  } catch {
    // Omits the cause, because the error messages of JSON.parse quote the text.
    throw new TypeError('The message is not JSON');
  }
}

/**
 * Returns how often a message was delivered, including this delivery. The queue counts how often the message
 * was returned.
 */
export function attemptsOf({ properties }: Message): number {
  const returns: unknown = properties.headers?.['x-delivery-count'];
  return typeof returns === 'number' ? returns + 1 : 1;
}

/** Returns the dead letter of a message. The headers of the letter contain the reason. */
export function toDeadLetter(message: Message, queue: string, error: unknown): OutgoingMessage {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'A value that is not an Error';
  return {
    ...resend(message, queue),
    headers: {
      ...resend(message, queue).headers,
      [reasonHeader]: reason.slice(0, maxReasonLength),
      [attemptsHeader]: attemptsOf(message),
      [timeHeader]: new Date().toISOString(),
    },
  };
}

/** Returns a copy of a message for a queue, as if the message had never been delivered. */
export function resend({ content, properties }: Message, queue: string): OutgoingMessage {
  const traceparent: unknown = properties.headers?.traceparent;
  return {
    routingKey: queue,
    messageId: messageIdOf(properties.messageId),
    content,
    headers: typeof traceparent === 'string' ? { traceparent } : {},
  };
}

const messageIdOf = (id: unknown) => (typeof id === 'string' ? id : '');

/** A message in the dead-letter queue of a consumer that could not handle the event. */
export type StoredDeadLetter = {
  readonly id: string;
  /** The event, or undefined if it does not match the catalogue. */
  readonly event: CloudEvent | undefined;
  readonly reason: string;
  /** The number of deliveries, or undefined if the broker dead-lettered the message itself. */
  readonly attempts: number | undefined;
  /** The time at which the message became a dead letter (RFC 3339). */
  readonly time: string | undefined;
};

/** Reads a message in a dead-letter queue. */
export function readDeadLetter(message: Message): StoredDeadLetter {
  const headers: Readonly<Record<string, unknown>> = message.properties.headers ?? {};
  const [death] = message.properties.headers?.['x-death'] ?? [];
  const reason = headers[reasonHeader] ?? death?.reason;
  const attempts = headers[attemptsHeader];
  const time = headers[timeHeader] ?? (death && new Date(death.time.value * 1000).toISOString());
  return {
    id: messageIdOf(message.properties.messageId),
    event: eventOrNone(message),
    reason: typeof reason === 'string' ? reason : 'unknown',
    attempts: typeof attempts === 'number' ? attempts : undefined,
    time: typeof time === 'string' ? time : undefined,
  };
}

function eventOrNone(message: Message): CloudEvent | undefined {
  try {
    return readEvent(message);
  } catch {
    return undefined;
  }
}
