import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { inFollowingSpan, SpanKind } from '@clinical-launch/runtime/tracing';
import type { OutgoingMessage } from './confirmed-publish.ts';

/*
 * Spans of messages (OpenTelemetry semantic conventions for messaging). A message contains the `traceparent`
 * of the span that caused it. The span of a single message is a child of that span. The span of a batch has a
 * link to the causing span of each message.
 */

/** The value of `messaging.system` for each kind of bus. */
export type MessagingSystem = 'rabbitmq' | 'in_process';

/** Calls `publish` within a span that describes the messages. */
export function inPublishSpan(
  exchange: string,
  messages: readonly OutgoingMessage[],
  publish: () => Promise<void>,
): Promise<void> {
  const [first] = messages;
  const attributes = {
    'messaging.system': 'rabbitmq',
    'messaging.operation.name': 'publish',
    'messaging.operation.type': 'send',
    'messaging.destination.name': exchange,
    ...(messages.length === 1 && first !== undefined
      ? {
          'messaging.message.id': first.messageId,
          'messaging.rabbitmq.destination.routing_key': first.routingKey,
        }
      : { 'messaging.batch.message_count': messages.length }),
  };
  const causes = messages.map(({ headers }) => String(headers['traceparent']));
  return inFollowingSpan(
    { name: `publish ${exchange}`, kind: SpanKind.PRODUCER, attributes, causes },
    publish,
  );
}

/** Calls `handle` within a span that describes the events. */
export function inProcessSpan(
  { system, queue }: { readonly system: MessagingSystem; readonly queue: string },
  events: readonly CloudEvent[],
  handle: () => Promise<void>,
): Promise<void> {
  const [first] = events;
  const attributes = {
    'messaging.system': system,
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': queue,
    ...(events.length === 1 && first !== undefined
      ? { 'messaging.message.id': first.id, 'clinical_launch.correlation_id': first.correlationid }
      : { 'messaging.batch.message_count': events.length }),
  };
  const causes = events.map(({ traceparent }) => traceparent);
  return inFollowingSpan({ name: `process ${queue}`, kind: SpanKind.CONSUMER, attributes, causes }, handle);
}
