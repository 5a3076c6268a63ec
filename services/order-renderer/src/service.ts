import type { CloudEvent, Sealers } from '@clinical-launch/contracts';
import { type EventBus, type Relay, startRelay } from '@clinical-launch/events';
import { type Clock, type Logger, observeOutbox } from '@clinical-launch/service';
import {
  createRouter,
  errorEdge,
  onlyMethods,
  type ResolveName,
  type Service,
} from '@clinical-launch/service/http';
import { type DeliveryWorker, reportRejectedEvents } from '@clinical-launch/service/process';
import type { RegistrySource } from '@clinical-launch/service/trust';
import type { Storage } from '@clinical-launch/storage';
import type { Tickets } from '@clinical-launch/tickets';
import type { OrderRendererConfig } from './config.ts';
import { onOrderSubmitted } from './consumers/on-order-submitted.ts';
import { deliver, isCallbackRegistered } from './delivery/deliver.ts';
import { startDocumentDelivery } from './delivery/deliver-documents.ts';
import { pageDialect } from './errors.ts';
import { type DocumentNeeds, getDownload, getNotepad } from './http/get-order-document.ts';
import { observeDeliveries } from './metrics.ts';
import { createDocuments, type Documents, openSchema } from './store/documents.ts';

export type OrderRendererBacking = {
  readonly storage: Storage;
  readonly tickets: Pick<Tickets, 'find'>;
  readonly bus: Pick<EventBus, 'publish'>;
  /** Who is to be told of a document, and where. */
  readonly registry: RegistrySource;
  /** Opens what the ordering service sealed, and the secrets of the callbacks. */
  readonly sealers: Pick<Sealers, 'order' | 'callback'>;
  /** Leads from the name in a callback address to where it is; the system's when absent. */
  readonly resolveName?: ResolveName;
  readonly clock: Clock;
  readonly logger: Logger;
};

type Parts = { readonly documents: Documents; readonly relay: Relay; readonly worker: DeliveryWorker };

/** Makes, keeps, returns and delivers the order document. Its router answers whole paths: mount it at `/`. */
export function orderRenderer(config: OrderRendererConfig, backing: OrderRendererBacking): Service {
  let started: Parts | undefined;
  const parts = () => {
    if (started === undefined) throw new TypeError('Start the order renderer before it is used');
    return started;
  };
  const delivering = deliveryNeeds(config, backing);
  const consumer = onOrderSubmitted({
    ...backing,
    sealer: backing.sealers.order,
    config,
    isToBeDelivered: (client) => isCallbackRegistered(delivering, client),
    keep: async (document, events) => {
      const { documents, relay, worker } = parts();
      if (!(await documents.keep(document, events))) return;
      relay.nudge();
      if (document.deliverTo !== undefined) worker.nudge();
    },
  });
  return {
    name: 'order-renderer',
    router: createDocumentRouter(config, {
      tickets: backing.tickets,
      find: (key) => parts().documents.find(key),
      findOthers: (key) => parts().documents.findOthers(key),
      record: async (events: readonly CloudEvent[]) => {
        await parts().documents.record(events);
        parts().relay.nudge();
      },
      waitMs: config.documentWaitMs,
      isSecure: config.callbacks.publicUrl.startsWith('https:'),
    }),
    consumers: [consumer],
    async start() {
      started = await startParts(config, backing);
    },
    async stop() {
      await started?.worker.stop();
      await started?.relay.stop();
    },
  };
}

function createDocumentRouter(config: OrderRendererConfig, needs: DocumentNeeds) {
  const router = createRouter();
  const only = onlyMethods('GET', 'HEAD');
  router.route('/orders/:guid/notepad').get(getNotepad(needs)).all(only);
  router.route('/orders/:guid.xml').get(getDownload(needs)).all(only);
  router.use(errorEdge({ dialect: pageDialect(config) }));
  return router;
}

const deliveryNeeds = ({ callbacks }: OrderRendererConfig, backing: OrderRendererBacking) => ({
  ...backing,
  config: callbacks,
  sealer: backing.sealers.callback,
});

async function startParts(config: OrderRendererConfig, backing: OrderRendererBacking): Promise<Parts> {
  const { storage, bus, clock, logger } = backing;
  const documents = createDocuments(
    await openSchema(storage),
    reportRejectedEvents('order-renderer', logger),
  );
  const { outbox, deliveries } = documents;
  observeOutbox('order-renderer', () => outbox.level());
  observeDeliveries(() => deliveries.level(clock.now()));
  const relay = startRelay({
    source: outbox,
    publish: (events) => bus.publish(events),
    onFailure: (error) => logger.error({ err: error }, 'events wait in the outbox of the order renderer'),
  });
  const delivering = deliveryNeeds(config, backing);
  const worker = startDocumentDelivery({
    ...delivering,
    deliveries,
    deliver: (due, stopping) => deliver(delivering, due, stopping),
    onEvents: () => relay.nudge(),
  });
  return { documents, relay, worker };
}
