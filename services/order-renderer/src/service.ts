import type { CloudEvent, Sealer } from '@clinical-launch/contracts';
import { type EventBus, type Relay, startRelay } from '@clinical-launch/events';
import {
  type Clock,
  createRouter,
  errorEdge,
  type Logger,
  observeOutbox,
  onlyMethods,
  type Service,
} from '@clinical-launch/service';
import type { Storage } from '@clinical-launch/storage';
import type { Tickets } from '@clinical-launch/tickets';
import type { OrderRendererConfig } from './config.ts';
import { onOrderSubmitted } from './consumers/on-order-submitted.ts';
import { pageDialect } from './errors.ts';
import { getDownload, getNotepad } from './http/get-order-document.ts';
import { type Documents, openDocuments } from './store/documents.ts';

export type OrderRendererBacking = {
  readonly storage: Storage;
  readonly tickets: Pick<Tickets, 'find'>;
  readonly bus: Pick<EventBus, 'publish'>;
  /** Opens what the ordering service sealed. */
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Makes, keeps and returns the order document. Its router answers whole paths: mount it at `/`. */
export function orderRenderer(config: OrderRendererConfig, backing: OrderRendererBacking): Service {
  const { storage, tickets, bus, sealer, clock, logger } = backing;
  let started: { documents: Documents; relay: Relay } | undefined;
  const parts = () => {
    if (started === undefined) throw new TypeError('Start the order renderer before it is used');
    return started;
  };

  const needs = {
    tickets,
    find: (key: { orderGuid: string; launchId: string }) => parts().documents.find(key),
    record: async (events: readonly CloudEvent[]) => {
      await parts().documents.record(events);
      parts().relay.nudge();
    },
    waitMs: config.documentWaitMs,
  };
  const router = createRouter();
  const only = onlyMethods('GET', 'HEAD');
  router.route('/orders/:guid/notepad').get(getNotepad(needs)).all(only);
  router.route('/orders/:guid.xml').get(getDownload(needs)).all(only);
  router.use(errorEdge({ dialect: pageDialect(config) }));

  const consumer = onOrderSubmitted({
    config,
    sealer,
    clock,
    keep: async (document, events) => {
      const { documents, relay } = parts();
      if (await documents.keep(document, events)) relay.nudge();
    },
  });

  return {
    name: 'order-renderer',
    router,
    consumers: [consumer],
    async start() {
      const documents = await openDocuments(storage);
      observeOutbox('order-renderer', () => documents.outbox.level());
      const relay = startRelay({
        source: documents.outbox,
        publish: (events) => bus.publish(events),
        onFailure: (error) => logger.error({ err: error }, 'events wait in the outbox of the order renderer'),
      });
      started = { documents, relay };
    },
    stop: async () => started?.relay.stop(),
  };
}
