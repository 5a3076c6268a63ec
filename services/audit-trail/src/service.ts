import type { Outbox } from '@clinical-launch/events';
import type { Clock, Logger } from '@clinical-launch/service';
import {
  createRouter,
  errorEdge,
  onlyMethods,
  problemDialect,
  type Service,
} from '@clinical-launch/service/http';
import type { AccessTokenVerifier } from '@clinical-launch/service/trust';
import type { Storage } from '@clinical-launch/storage';
import type { Claims } from '@clinical-launch/tickets';
import { onEvent } from './consumers/on-event.ts';
import { onLaunchUrlIssued } from './consumers/on-launch-url-issued.ts';
import { findEvents } from './http/find-events.ts';
import { type AuditStore, createAuditStore, openSchema } from './store/audit-store.ts';
import { createOriginatingIds, type OriginatingIds } from './store/originating-ids.ts';
import { type ClaimKeeper, startClaimKeeper } from './work/keep-claims.ts';

export type AuditTrailBacking = {
  readonly storage: Storage;
  readonly tokens: AccessTokenVerifier;
  readonly events: Outbox;
  /** The claims of the tickets, which this service records and restores. */
  readonly claims: Claims;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** The audit trail: keeps every event and answers what happened to a GUID. Answers below `/audit`. */
export function auditTrail(config: { readonly isProduction: boolean }, backing: AuditTrailBacking): Service {
  const { storage, tokens, events, claims } = backing;
  let opened: Stores | undefined;
  const stores = () => {
    if (opened === undefined) throw new TypeError('The audit trail was not started');
    return opened;
  };
  const store = () => stores().audit;
  let keeper: ClaimKeeper | undefined;
  const router = createRouter();
  router.get('/audit/events', findEvents({ store, tokens, events }));
  router.all('/audit/events', onlyMethods('GET'));
  router.use(errorEdge({ dialect: problemDialect(config) }));
  return {
    name: 'audit-trail',
    router,
    consumers: [onEvent(store), onLaunchUrlIssued({ originatingIds: () => stores().originatingIds, claims })],
    start: async () => {
      const database = await openSchema(storage);
      opened = { audit: createAuditStore(database), originatingIds: createOriginatingIds(database) };
      keeper = await startClaimKeeper({ ...backing, originatingIds: opened.originatingIds });
    },
    stop: async () => keeper?.stop(),
  };
}

type Stores = { readonly audit: AuditStore; readonly originatingIds: OriginatingIds };
