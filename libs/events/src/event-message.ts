import {
  assertReceivedEvent,
  type CloudEvent,
  type WrittenEvent,
} from '@clinical-launch/contracts/events/cloud-event';
import type { Message } from 'amqplib';
import type { OutgoingMessage } from './confirmed-publish.ts';

/**
 * The header with the reason of a dead letter; the broker writes `x-death` when it dead-letters a message
 * itself.
 */
const reasonHeader = 'dead-letter-reason';
const attemptsHeader = 'dead-letter-attempts';
const timeHeader = 'dead-letter-time';

const maxReasonLength = 500;

/**
 * Returns an event as a message in structured mode; its type is the routing key (CloudEvents AMQP binding
 * 3.2).
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
 * Reads the event of a message.
 * @throws TypeError with the place but never the value, when it is not an event of the catalogue
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
    // Without its cause, because the messages of JSON.parse quote the text.
    throw new TypeError('The message is not JSON');
  }
}

/** Returns how often a message was delivered, including this time: its queue counts each return. */
export function attemptsOf({ properties }: Message): number {
  const returns: unknown = properties.headers?.['x-delivery-count'];
  return typeof returns === 'number' ? returns + 1 : 1;
}

/** Returns the same message for the dead letters of a queue, with the reason. */
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

/** Returns the same message as if it were new, for a queue. */
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

/** An event that a consumer could not handle, in its dead-letter queue. */
export type StoredDeadLetter = {
  /** The id of the event. */
  readonly id: string;
  /** Undefined for a message that is not an event of the catalogue. */
  readonly event: CloudEvent | undefined;
  readonly reason: string;
  /** The number of deliveries; unknown when the broker dead-lettered it itself. */
  readonly attempts: number | undefined;
  /** When it became a dead letter, RFC 3339. */
  readonly time: string | undefined;
};

/** Reads a message of a dead-letter queue. */
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
