import { assertCloudEvent, type CloudEvent, type EventWriter } from '@clinical-launch/contracts';
import type { Message } from 'amqplib';
import type { OutgoingMessage } from './confirmed-publish.ts';

/** What went wrong with a dead letter, in headers of its own; the broker writes `x-death` when it buries one itself. */
const reasonHeader = 'dead-letter-reason';
const attemptsHeader = 'dead-letter-attempts';
const timeHeader = 'dead-letter-time';

const longestReason = 500;

/** Writes an event as a message in structured mode; its type is the routing key (CloudEvents AMQP binding 3.2). */
export function toMessage(event: CloudEvent, write: EventWriter = JSON.stringify): OutgoingMessage {
  return {
    routingKey: event.type,
    messageId: event.id,
    content: Buffer.from(write(event)),
    headers: { traceparent: event.traceparent },
  };
}

/**
 * Reads the event of a message.
 * @throws TypeError when it is none of the catalogue, saying where, never what.
 */
export function readEvent({ content }: Pick<Message, 'content'>): CloudEvent {
  const candidate = parse(content);
  assertCloudEvent(candidate);
  return candidate;
}

function parse(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString());
  } catch {
    // Without its cause: the words of JSON.parse quote the text.
    throw new TypeError('The message is not JSON');
  }
}

/** How often a message was handed out, this time included: each return of it was counted by its queue. */
export function attemptsOf({ properties }: Message): number {
  const returns: unknown = properties.headers?.['x-delivery-count'];
  return typeof returns === 'number' ? returns + 1 : 1;
}

/** The same message for the dead letters of a queue, with the reason. */
export function toDeadLetter(message: Message, queue: string, error: unknown): OutgoingMessage {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'Something that is no error';
  return {
    ...resend(message, queue),
    headers: {
      ...resend(message, queue).headers,
      [reasonHeader]: reason.slice(0, longestReason),
      [attemptsHeader]: attemptsOf(message),
      [timeHeader]: new Date().toISOString(),
    },
  };
}

/** The same message as if it were new, for a queue. */
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

/** An event that a consumer could not deal with, as it lies in its dead-letter queue. */
export type StoredDeadLetter = {
  /** The id of the event. */
  readonly id: string;
  /** Undefined for a message that is no event of the catalogue. */
  readonly event: CloudEvent | undefined;
  readonly reason: string;
  /** How often the consumer was handed it; unknown when the broker buried it itself. */
  readonly attempts: number | undefined;
  /** RFC 3339, when it was given up */
  readonly time: string | undefined;
};

/** Reads what lies in a dead-letter queue. */
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
