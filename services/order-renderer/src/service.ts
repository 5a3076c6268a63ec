import { fileURLToPath } from 'node:url';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Sealers } from '@clinical-launch/crypto/sealing-purposes';
import type { EventBus } from '@clinical-launch/events/event-bus';
import { type Relay, startRelay } from '@clinical-launch/events/relay';
import { type Endpoint, endpoint } from '@clinical-launch/http/endpoint';
import type { ErrorDialect } from '@clinical-launch/http/errors';
import type { ResolveName } from '@clinical-launch/http/outbound-fetch';
import { createPages, serveAssets } from '@clinical-launch/pages/templates';
import { reportRejectedEvents } from '@clinical-launch/process/rejected-events';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { meter as getMeter, observeOutbox } from '@clinical-launch/runtime/metrics';
import type { Storage } from '@clinical-launch/storage/storage';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { RegistrySource } from '@clinical-launch/trust/registry-file';
import type { OrderRendererConfig } from './config.ts';
import { onOrderSubmitted } from './consumers/on-order-submitted.ts';
import { deliver, isCallbackRegistered, type SettledAttempt } from './delivery/deliver.ts';
import { startDocumentDelivery } from './delivery/deliver-documents.ts';
import { pageDialect } from './errors.ts';
import {
  type DocumentDependencies,
  getDownload,
  getNotepad,
  getOldDownload,
} from './http/get-order-document.ts';
import type { DeliveryLevel } from './store/deliveries.ts';
import { createDocuments, type Documents, openSchema } from './store/documents.ts';

export type OrderRendererDependencies = {
  readonly storage: Storage;
  readonly tickets: Pick<Tickets, 'find'>;
  readonly bus: Pick<EventBus, 'publish'>;
  /** The registry, with the callbacks of the clients and the earlier codes of the practices. */
  readonly registry: RegistrySource;
  /** The sealers that open sealed orders and callback secrets. */
  readonly sealers: Pick<Sealers, 'order' | 'callback'>;
  /** Resolves the host name of a callback address. By default, uses the resolver of the system. */
  readonly resolveName?: ResolveName;
  readonly clock: Clock;
  readonly logger: Logger;
};

/**
 * Creates the service that renders, stores, returns and delivers order documents. Its endpoints have full
 * paths, so it must be mounted at `/`. Resolves when its schema exists and its background work has started.
 */
export async function orderRenderer(
  config: OrderRendererConfig,
  provided: OrderRendererDependencies,
): Promise<Service> {
  const { storage, tickets, registry, clock, logger } = provided;
  const documents = createDocuments(
    await openSchema(storage),
    reportRejectedEvents('order-renderer', logger),
  );
  const { outbox, deliveries } = documents;
  observeOutbox('order-renderer', () => outbox.level());
  observeDeliveries(() => deliveries.level(clock.now()));
  const relay = relayOutbox(outbox, provided);
  const delivering = { ...provided, config: config.callbacks, sealer: provided.sealers.callback };
  const worker = startDocumentDelivery({
    ...delivering,
    deliveries,
    deliver: (due, stopping) => deliver(delivering, due, stopping),
    measure: createAttemptMeter(),
    onEvents: () => relay.nudge(),
  });
  const consumer = onOrderSubmitted({
    ...provided,
    sealer: provided.sealers.order,
    config,
    isToBeDelivered: (client) => isCallbackRegistered(delivering, client),
    store: async (document, events) => {
      if (!(await documents.store(document, events))) return;
      relay.nudge();
      if (document.deliverTo !== undefined) worker.nudge();
    },
  });
  const pages = createPages(fileURLToPath(new URL('views', import.meta.url)), config);
  const dialect = pageDialect({ pages, isProduction: config.isProduction });
  const endpoints = documentEndpoints(dialect, {
    tickets,
    registry,
    find: (key) => documents.find(key),
    findOthers: (key) => documents.findOthers(key),
    record: async (events: readonly CloudEvent[]) => {
      await documents.record(events);
      relay.nudge();
    },
    waitMs: config.documentWaitMs,
    isSecure: config.callbacks.publicUrl.startsWith('https:'),
    scriptHashes: [pages.scriptHash],
  });
  return {
    name: 'order-renderer',
    endpoints,
    below: [{ path: '/orders/assets', serve: serveAssets() }],
    consumers: [consumer],
    async stop() {
      await worker.stop();
      await relay.stop();
    },
  };
}

function relayOutbox(
  outbox: Documents['outbox'],
  { bus, logger }: Pick<OrderRendererDependencies, 'bus' | 'logger'>,
): Relay {
  return startRelay({
    source: outbox,
    publish: (events) => bus.publish(events),
    onFailure: (error) => logger.error({ err: error }, 'events wait in the outbox of the order renderer'),
  });
}

function documentEndpoints(dialect: ErrorDialect, dependencies: DocumentDependencies): Endpoint[] {
  const shared = { source: '/order-renderer', dialect };
  const [notepad, download] = [getNotepad(dependencies), getDownload(dependencies)];
  const oldDownload = getOldDownload(dependencies);
  return [
    endpoint({ ...shared, path: '/orders/:guid/notepad', methods: { GET: notepad, HEAD: notepad } }),
    endpoint({ ...shared, path: '/orders/:guid/document.xml', methods: { GET: download, HEAD: download } }),
    endpoint({ ...shared, path: '/orders/:guid.xml', methods: { GET: oldDownload, HEAD: oldDownload } }),
  ];
}

/** Observes the pending and dead deliveries, and the age of the oldest pending delivery, at each scrape. */
function observeDeliveries(level: () => Promise<DeliveryLevel>): void {
  const meter = getMeter();
  const pending = meter.createObservableGauge('clinical_launch.delivery.pending', {
    description: 'Documents that wait for delivery to a callback address',
    unit: '{document}',
  });
  const dead = meter.createObservableGauge('clinical_launch.delivery.dead', {
    description: 'Documents whose delivery was stopped after the last attempt',
    unit: '{document}',
  });
  const age = meter.createObservableGauge('clinical_launch.delivery.oldest_age', {
    description: 'Time since the oldest document that waits for delivery was created',
    unit: 's',
  });
  meter.addBatchObservableCallback(
    async (result) => {
      const measured = await level().catch(() => undefined);
      if (measured === undefined) return;
      result.observe(pending, measured.pending);
      result.observe(dead, measured.dead);
      result.observe(age, measured.oldestAgeSeconds);
    },
    [pending, dead, age],
  );
}

function createAttemptMeter(): (attempt: SettledAttempt, seconds: number) => void {
  const meter = getMeter();
  const attempts = meter.createCounter('clinical_launch.delivery.attempts', {
    description: 'Attempts to deliver a document to a callback address, by their outcome',
    unit: '{attempt}',
  });
  const duration = meter.createHistogram('clinical_launch.delivery.duration', {
    description: 'Time from the creation of a document until its callback address accepted it',
    unit: 's',
    advice: { explicitBucketBoundaries: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400] },
  });
  return (attempt, seconds) => {
    const isDelivered = attempt.outcome === 'delivered';
    attempts.add(1, { 'clinical_launch.outcome': isDelivered ? 'delivered' : attempt.reason });
    if (isDelivered) duration.record(Math.max(0, seconds));
  };
}
