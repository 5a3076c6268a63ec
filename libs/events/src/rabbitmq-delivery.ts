import { setTimeout as delay } from 'node:timers/promises';
import type { CloudEvent, EventVerifier } from '@clinical-launch/contracts';
import type { Channel, ConsumeMessage } from 'amqplib';
import type { OutgoingMessage } from './confirmed-publish.ts';
import type { Consumer } from './event-bus.ts';
import { attemptsOf, readEvent, toDeadLetter } from './event-message.ts';
import type { BusLogger } from './rabbitmq-link.ts';

export type DeliveryTerms = {
  readonly queue: string;
  readonly consumer: Consumer;
  readonly logger: BusLogger;
  /** Waits between the attempts, in milliseconds; there is one more attempt than waits. */
  readonly retryAfterMs: readonly number[];
  /** Runs work after all earlier work has completed. */
  takeTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Sends a message to the dead-letter exchange; resolves when it is stored there. */
  bury(letter: OutgoingMessage): Promise<void>;
  /** Verifies that an event comes from its source, before it is handled. */
  readonly verify?: EventVerifier | undefined;
};

type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'not begun' }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * Completes one message: acknowledges it when the consumer handled it, returns it to the queue after a wait
 * when it failed (others pass it in the meantime), or makes it a dead letter after its last attempt, or if it
 * is no event or fails verification. Once `ending` is aborted, nothing starts and nothing waits. Never
 * rejects.
 */
export async function deliver(
  terms: DeliveryTerms,
  channel: Channel,
  message: ConsumeMessage,
  ending: AbortSignal,
): Promise<void> {
  let event: CloudEvent;
  try {
    const read = readEvent(message);
    event = terms.verify?.(read) ?? read;
  } catch (error) {
    return bury(terms, channel, message, { error });
  }
  const outcome = await terms.takeTurn(() => handle(terms.consumer, event, ending));
  if (outcome.kind === 'done') return settle(() => channel.ack(message));
  // From 4.3 on, RabbitMQ counts a reject as a failed delivery but not a nack; before, it counts both.
  if (outcome.kind === 'not begun') return settle(() => channel.nack(message, false, true));

  const attempt = attemptsOf(message);
  const waitMs = terms.retryAfterMs[attempt - 1];
  if (waitMs === undefined) return bury(terms, channel, message, { error: outcome.error, event });
  const fields = { ...fieldsOf(terms, event), attempt, err: outcome.error };
  terms.logger.warn(fields, 'an event was not handled: it will be delivered again');
  await delay(waitMs, undefined, { signal: ending }).catch(() => undefined);
  settle(() => channel.reject(message, true));
}

async function handle(consumer: Consumer, event: CloudEvent, ending: AbortSignal): Promise<Outcome> {
  if (ending.aborted) return { kind: 'not begun' };
  // Still in the queue from a time when the consumer wanted other types.
  if (consumer.types?.includes(event.type) === false) return { kind: 'done' };
  try {
    await consumer.handle(event);
    return { kind: 'done' };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

type Failed = { readonly error: unknown; readonly event?: CloudEvent };

async function bury(
  terms: DeliveryTerms,
  channel: Channel,
  message: ConsumeMessage,
  { error, event }: Failed,
): Promise<void> {
  const fields = { ...fieldsOf(terms, event), attempt: attemptsOf(message), err: error };
  terms.logger.error(fields, 'an event was not handled: it is a dead letter');
  try {
    await terms.bury(toDeadLetter(message, terms.queue, error));
    settle(() => channel.ack(message));
  } catch {
    // The broker then moves it itself, but without the reason.
    settle(() => channel.reject(message, false));
  }
}

const fieldsOf = ({ consumer }: DeliveryTerms, event: CloudEvent | undefined) => ({
  consumer: consumer.name,
  eventId: event?.id,
  eventType: event?.type,
  correlationId: event?.correlationid,
});

/** Settles a message. If the channel is closed, does nothing: the broker has already requeued the message. */
function settle(send: () => void): void {
  try {
    send();
  } catch {
    // The channel is closed, see above.
  }
}
