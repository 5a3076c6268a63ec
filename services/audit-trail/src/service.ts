import type { Outbox } from '@clinical-launch/events';
import { type Clock, type Environment, isProduction, type Logger } from '@clinical-launch/service';
import { createRouter, endpoint, openToAll, problemDialect } from '@clinical-launch/service/http';
import type { Service } from '@clinical-launch/service/process';
import type { AccessTokenVerifier } from '@clinical-launch/service/trust';
import type { Storage } from '@clinical-launch/storage';
import type { Claims } from '@clinical-launch/tickets';
import { onEvent } from './consumers/on-event.ts';
import { onLaunchUrlIssued } from './consumers/on-launch-url-issued.ts';
import { findEvents } from './http/find-events.ts';
import { createAuditStore, openSchema } from './store/audit-store.ts';
import { createOriginatingIds } from './store/originating-ids.ts';
import { startClaimKeeper } from './work/keep-claims.ts';

export type AuditTrailDependencies = {
  readonly storage: Storage;
  readonly tokens: AccessTokenVerifier;
  readonly events: Outbox;
  /** The claims of the tickets, which this service records and restores. */
  readonly claims: Claims;
  readonly clock: Clock;
  readonly logger: Logger;
};

export type AuditTrailConfig = { readonly isProduction: boolean };

/** Reads the configuration of the audit trail. @throws ConfigurationError */
export const readAuditTrailConfig = (environment: Environment): AuditTrailConfig => ({
  isProduction: isProduction(environment),
});

/**
 * Creates the audit trail, which stores every event and returns the events of a GUID. Answers below `/audit`.
 * When it resolves, its schema exists, and the claims of a Redis that lost its data are restored.
 */
export async function auditTrail(
  config: AuditTrailConfig,
  backing: AuditTrailDependencies,
): Promise<Service> {
  const { storage, tokens, events, claims } = backing;
  const database = await openSchema(storage);
  const store = createAuditStore(database);
  const originatingIds = createOriginatingIds(database);
  const keeper = await startClaimKeeper({ ...backing, originatingIds });
  const router = createRouter();
  router.all(
    '/audit/events',
    endpoint({
      source: '/audit-trail',
      dialect: problemDialect(config),
      open: openToAll,
      methods: { GET: findEvents({ store, tokens, events }) },
    }),
  );
  return {
    name: 'audit-trail',
    router,
    consumers: [onEvent(store), onLaunchUrlIssued({ originatingIds, claims })],
    stop: () => keeper.stop(),
  };
}
