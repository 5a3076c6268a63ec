import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { nextAttemptAt } from '@clinical-launch/deliveries/delivery-retry';
import { type DeliveryWorker, startDeliveryWorker } from '@clinical-launch/deliveries/delivery-worker';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { currentTraceparent } from '@clinical-launch/runtime/tracing';
import type { CallbackConfig } from '../config.ts';
import { aboutPatient } from '../domain/about-patient.ts';
import type { Deliveries, DueDelivery } from '../store/deliveries.ts';
import type { Attempt } from './deliver.ts';

type Dependencies = {
  readonly config: CallbackConfig;
  readonly deliveries: Deliveries;
  readonly deliver: (delivery: DueDelivery, stopping: AbortSignal) => Promise<Attempt>;
  /** Measures an attempt, with the seconds since its document was created. */
  readonly measure: (attempt: Settled, seconds: number) => void;
  /** Called after the events of an attempt are in the outbox. */
  readonly onEvents: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
};

/**
 * Delivers the documents that are due, each at least once: a receiver may get a document twice, with the same
 * `webhook-id`.
 */
export function startDocumentDelivery(dependencies: Dependencies): DeliveryWorker {
  const { config, deliveries, clock, logger } = dependencies;
  return startDeliveryWorker({
    ...config,
    claim: (busyClients) => deliveries.claim(clock.now(), busyClients),
    nextDueAt: (busyClients) => deliveries.nextDueAt(clock.now(), busyClients),
    attempt: (due, ending) => attemptOnce(dependencies, due, ending),
    receiverOf: ({ clientKey }) => clientKey,
    what: 'documents',
    clock,
    logger,
  });
}

async function attemptOnce(dependencies: Dependencies, due: DueDelivery, ending: AbortSignal): Promise<void> {
  const { deliveries, deliver, clock, logger, onEvents } = dependencies;
  const attempt = await deliver(due, ending);
  if (attempt.outcome === 'interrupted') return deliveries.giveBack(due);
  const now = clock.now();
  const next = attempt.outcome === 'delivered' ? undefined : whenAgain(due, attempt, now);
  tell(logger, due, attempt);
  dependencies.measure(attempt, (now - due.document.renderedAt.getTime()) / 1000);
  const isFinal = next === undefined;
  const events = eventsOf({ due, attempt, isFinal, now });
  await deliveries.settle(
    due,
    {
      state: attempt.outcome === 'delivered' ? 'delivered' : isFinal ? 'dead' : 'pending',
      ...(next === undefined ? {} : { nextAttemptAt: next }),
      ...(attempt.status === undefined ? {} : { status: attempt.status }),
      ...(attempt.outcome === 'failed' ? { failure: attempt.reason } : {}),
    },
    events,
  );
  if (events.length > 0) onEvents();
}

type Failed = Extract<Attempt, { outcome: 'failed' }>;
type Settled = Exclude<Attempt, { outcome: 'interrupted' }>;

function whenAgain(due: DueDelivery, { reason, retryAfterMs }: Failed, now: number): number | undefined {
  const { attempts, giveUpAt } = due;
  const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
  return nextAttemptAt({ reason, attempts, now, giveUpAt, random: Math.random(), ...asked });
}

/** Logs the document by its GUIDs, and no address, because that may contain a secret of the receiver. */
function tell(logger: Logger, { document, clientId, attempts }: DueDelivery, attempt: Settled): void {
  const { launchId, orderGuid, messageId } = document;
  const facts = { correlationId: launchId, orderGuid, messageId, clientId, attempts };
  if (attempt.outcome === 'delivered') return logger.info(facts, 'document delivered');
  const { reason, status, cause } = attempt;
  logger.warn({ ...facts, reason, status, code: codeOf(cause) }, 'document not delivered');
}

function codeOf(cause: unknown): string | undefined {
  const code: unknown =
    typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

type Told = {
  readonly due: DueDelivery;
  readonly attempt: Settled;
  readonly isFinal: boolean;
  readonly now: number;
};

/**
 * Reports only the first and the last failure: a receiver that is down for a day causes two events, not
 * forty.
 */
function eventsOf({ due, attempt, isFinal, now }: Told): CloudEvent[] {
  const { document, issuer, clientId, attempts, patient } = due;
  const { launchId, orderGuid, messageId } = document;
  const traceparent = currentTraceparent() ?? due.traceparent;
  const origin = { source: '/order-renderer', correlationId: launchId, traceparent, now: new Date(now) };
  const delivery = { ...aboutPatient(patient), orderGuid, messageId, issuer, clientId, attempts };
  if (attempt.outcome === 'delivered') return [createEvent('order.document.delivered.v1', origin, delivery)];
  if (!isFinal && attempts > 1) return [];
  const { reason, status } = attempt;
  const failed = { ...delivery, reason, ...(status === undefined ? {} : { status }), isFinal };
  return [createEvent('order.document.delivery.failed.v1', origin, failed)];
}
