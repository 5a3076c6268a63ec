import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import {
  type DeliveryResult,
  type DeliveryWorker,
  startDeliveryWorker,
} from '@clinical-launch/deliveries/delivery-worker';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { currentTraceparent } from '@clinical-launch/runtime/tracing';
import type { CallbackConfig } from '../config.ts';
import type { Deliveries, DueDelivery } from '../store/deliveries.ts';
import type { Attempt, SettledAttempt } from './deliver.ts';

type Dependencies = {
  readonly config: CallbackConfig;
  readonly deliveries: Deliveries;
  readonly deliver: (delivery: DueDelivery, stopping: AbortSignal) => Promise<Attempt>;
  /** Records an attempt in the metrics, with the seconds since its document was created. */
  readonly measure: (attempt: SettledAttempt, seconds: number) => void;
  /** Runs after the events of an attempt have been stored in the outbox. */
  readonly onEvents: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
};

/**
 * Starts the delivery of due documents. Each is delivered at least once: a receiver may receive a document
 * twice, with the same `webhook-id`.
 */
export function startDocumentDelivery(dependencies: Dependencies): DeliveryWorker {
  const { config, deliveries, deliver, measure, onEvents, clock, logger } = dependencies;
  return startDeliveryWorker<DueDelivery, 'no_usable_secret'>({
    ...config,
    what: 'document',
    queue: deliveries,
    async deliver(due, ending) {
      const attempt = await deliver(due, ending);
      const seconds = (clock.now() - due.document.renderedAt.getTime()) / 1000;
      if (attempt.outcome !== 'interrupted') measure(attempt, seconds);
      return attempt;
    },
    async settle(due, settlement, events) {
      await deliveries.settle(due, settlement, events);
      if (events.length > 0) onEvents();
    },
    eventOf,
    factsOf: ({ document: { launchId, orderGuid, messageId }, clientId }) => ({
      correlationId: launchId,
      orderGuid,
      messageId,
      clientId,
    }),
    clock,
    logger,
  });
}

function eventOf({
  due,
  attempt,
  isFinal,
  now,
}: DeliveryResult<DueDelivery, 'no_usable_secret'>): CloudEvent {
  const { document, issuer, clientId, attempts, patient } = due;
  const { launchId, orderGuid, messageId } = document;
  const traceparent = currentTraceparent() ?? due.traceparent;
  const origin = { source: '/order-renderer', correlationId: launchId, traceparent, now: new Date(now) };
  const delivery = { ...withoutUndefined({ patient }), orderGuid, messageId, issuer, clientId, attempts };
  if (attempt.outcome === 'delivered') return createEvent('order.document.delivered.v1', origin, delivery);
  const { reason, status } = attempt;
  const failed = { ...delivery, reason, ...withoutUndefined({ status }), isFinal };
  return createEvent('order.document.delivery.failed.v1', origin, failed);
}
