import { eventConsumers } from '@clinical-launch/contracts/events/cloud-event';
import type { EventBus } from '@clinical-launch/events/event-bus';
import { connectRabbitMq } from '@clinical-launch/events/rabbitmq-bus';
import type { PartOptions, RunningPart } from './parts.ts';

export type BusPart = RunningPart & { readonly bus: EventBus };

/**
 * Opens the event bus on the RabbitMQ of `AMQP_URL`. An unavailable broker does not delay the start.
 * @throws TypeError for an address that is not AMQP, without repeating it
 */
export async function openRabbitMq({ environment, logger, eventKeys }: PartOptions): Promise<BusPart> {
  const bus = await connectRabbitMq({
    url: environment.AMQP_URL ?? '',
    logger,
    ...eventKeys,
    knownConsumers: Object.entries(eventConsumers).map(([name, wanted]) => ({ name, ...wanted })),
    ...(environment.AMQP_NAMESPACE ? { namespace: environment.AMQP_NAMESPACE } : {}),
  });
  // There is no readiness check: without the broker, events wait, but requests are still answered.
  return { bus, checks: {}, stop: () => bus.stop() };
}
