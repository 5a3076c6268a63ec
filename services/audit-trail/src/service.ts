import type { Outbox } from '@clinical-launch/events';
import {
  type AccessTokenVerifier,
  createRouter,
  errorEdge,
  onlyMethods,
  problemDialect,
  type Service,
} from '@clinical-launch/service';
import type { Storage } from '@clinical-launch/storage';
import { onEvent } from './consumers/on-event.ts';
import { findEvents } from './http/find-events.ts';
import { type AuditStore, openAuditStore } from './store/audit-store.ts';

export type AuditTrailBacking = {
  readonly storage: Storage;
  readonly tokens: AccessTokenVerifier;
  readonly events: Outbox;
};

/** The audit trail: keeps every event and answers what happened to a GUID. Answers below `/audit`. */
export function auditTrail(config: { readonly isProduction: boolean }, backing: AuditTrailBacking): Service {
  const { storage, tokens, events } = backing;
  let opened: AuditStore | undefined;
  const store = () => {
    if (opened === undefined) throw new TypeError('The audit trail was not started');
    return opened;
  };
  const router = createRouter();
  router.get('/audit/events', findEvents({ store, tokens, events }));
  router.all('/audit/events', onlyMethods('GET'));
  router.use(errorEdge({ dialect: problemDialect(config) }));
  return {
    name: 'audit-trail',
    router,
    consumers: [onEvent(store)],
    start: async () => {
      opened = await openAuditStore(storage);
    },
  };
}
