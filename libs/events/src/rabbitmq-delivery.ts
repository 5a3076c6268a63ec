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
  /** Waits between the attempts, in milliseconds; one attempt more than there are waits. */
  readonly retryAfterMs: readonly number[];
  /** Does something after everything that came before it. */
  takeTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Brings a message to the dead-letter exchange; resolves when it is there. */
  bury(letter: OutgoingMessage): Promise<void>;
  /** Proves that an event comes from its source, before anything is done with it. */
  readonly verify?: EventVerifier | undefined;
};

type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'not begun' }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * Brings one message to its end: acknowledged when the consumer dealt with it, back to the queue after a wait when it
 * failed (others go past it meanwhile), a dead letter after its last attempt, or when it is no event or not proven. Once
 * `ending` is aborted nothing is begun and nothing waits. Never rejects.
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
  // From 4.3 on RabbitMQ counts a reject as a failed delivery and a nack as none; before, it counts both.
  if (outcome.kind === 'not begun') return settle(() => channel.nack(message, false, true));

  const attempt = attemptsOf(message);
  const waitMs = terms.retryAfterMs[attempt - 1];
  if (waitMs === undefined) return bury(terms, channel, message, { error: outcome.error, event });
  const fields = { ...fieldsOf(terms, event), attempt, err: outcome.error };
  terms.logger.warn(fields, 'an event was not dealt with: it comes again');
  await delay(waitMs, undefined, { signal: ending }).catch(() => undefined);
  settle(() => channel.reject(message, true));
}

async function handle(consumer: Consumer, event: CloudEvent, ending: AbortSignal): Promise<Outcome> {
  if (ending.aborted) return { kind: 'not begun' };
  // Left in the queue from a time when the consumer wanted other types.
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
  terms.logger.error(fields, 'an event is given up: it is a dead letter');
  try {
    await terms.bury(toDeadLetter(message, terms.queue, error));
    settle(() => channel.ack(message));
  } catch {
    // The broker then moves it itself, only without the reason.
    settle(() => channel.reject(message, false));
  }
}

const fieldsOf = ({ consumer }: DeliveryTerms, event: CloudEvent | undefined) => ({
  consumer: consumer.name,
  eventId: event?.id,
  eventType: event?.type,
  correlationId: event?.correlationid,
});

/** On a channel that is gone there is nothing to settle: the broker has given the message to the next one already. */
function settle(send: () => void): void {
  try {
    send();
  } catch {
    // See above.
  }
}
