import type { Outbox } from '@clinical-launch/events/event-bus';
import type { Mounted } from '@clinical-launch/http/app';
import { endpoint } from '@clinical-launch/http/endpoint';
import { fhirDialect, problemDialect } from '@clinical-launch/http/errors';
import { publishDocument } from '@clinical-launch/http/published-document';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import type { Storage } from '@clinical-launch/storage/storage';
import type { Claims } from '@clinical-launch/tickets/claims';
import type { AccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import type { AuditTrailConfig } from './config.ts';
import { onEvent, onLaunchUrlIssued } from './consumers/on-event.ts';
import { auditRefusal, behindReader } from './http/audit-reader.ts';
import { findEvents } from './http/find-events.ts';
import type { EndedSessions } from './http/pages/session.ts';
import type { PagesDependencies } from './http/pages/visit.ts';
import { searchByAddress, searchByBody, searchFhir } from './http/search-events.ts';
import { keepLog } from './keep-log.ts';
import { createActivity } from './store/activity.ts';
import { createAuditSearch, createLaunchReader } from './store/audit-search.ts';
import { createKnownParties } from './store/known-parties.ts';
import { createOriginatingIds } from './store/originating-ids.ts';
import { openSchema } from './store/tables.ts';
import { startClaimRestorer } from './work/restore-claims.ts';

export type AuditTrailDependencies = {
  readonly storage: Storage;
  readonly tokens: AccessTokenVerifier;
  readonly events: Outbox;
  /** The claims on callers' identifiers. This service records and restores the claims. */
  readonly claims: Claims;
  readonly endedSessions: EndedSessions;
  readonly clock: Clock;
  readonly logger: Logger;
};

/**
 * Creates the audit trail, which stores every event and answers searches below `/audit`. Resolves when its
 * schema exists and, if Redis has lost its data, the claims are restored.
 */
export async function auditTrail(
  config: AuditTrailConfig,
  provided: AuditTrailDependencies,
): Promise<Service> {
  const database = await openSchema(provided.storage);
  const log = keepLog(config, { ...provided, database });
  const { store } = log;
  const originatingIds = createOriginatingIds(database);
  const restorer = await startClaimRestorer({ ...provided, originatingIds });
  const parties = createKnownParties(database);
  const { pseudonyms, publicUrl } = config;
  const searching = { ...provided, pseudonyms, publicUrl, search: createAuditSearch(database) };
  const forReaders = (handle: Parameters<typeof behindReader>[1]) => behindReader(provided, handle);
  const find = forReaders(findEvents({ ...searching, store, searchEvents: searchByAddress(searching) }));
  const byBody = forReaders(searchByBody(searching));
  const byFhir = forReaders(searchFhir(searching));
  const api = { source: '/audit-trail', dialect: problemDialect(config), audit: auditRefusal('events') };
  const fhirApi = { ...api, dialect: fhirDialect, audit: auditRefusal('fhir') };
  const readLaunches = createLaunchReader(database);
  const pages = await openPages(config, {
    ...searching,
    parties,
    readLaunches,
    readActivity: createActivity(database),
  });
  return {
    name: 'audit-trail',
    ...pages,
    endpoints: [
      endpoint({ ...api, path: '/audit/events', headers: { Vary: 'Accept' }, methods: { GET: find } }),
      endpoint({ ...api, path: '/audit/events/_search', methods: { POST: byBody } }),
      endpoint({ ...fhirApi, path: '/audit/AuditEvent', methods: { GET: byFhir } }),
      endpoint({ ...fhirApi, path: '/audit/AuditEvent/_search', methods: { POST: byFhir } }),
      endpoint({ ...api, path: '/audit/openapi.json', methods: { GET: describeApi(config) } }),
      ...pages.endpoints,
    ],
    consumers: [onEvent({ ...provided, store, parties }), onLaunchUrlIssued({ ...provided, originatingIds })],
    async stop() {
      await restorer.stop();
      await log.stop();
    },
  };
}

/** Returns the description of the API. The first request creates the description. */
const describeApi = (config: AuditTrailConfig) =>
  publishDocument({
    contentType: 'application/json',
    make: async () => JSON.stringify((await import('./openapi/document.ts')).auditTrailDocument(config)),
  });

type ProvidedToPages = Omit<PagesDependencies, 'config' | 'pages' | 'write'> & { readonly logger: Logger };

/** Loads the pages below `/audit/`. Without a configuration of the pages, logs that there are no pages. */
async function openPages({ pages: config }: AuditTrailConfig, provided: ProvidedToPages): Promise<Mounted> {
  if (config === undefined) {
    provided.logger.info('there are no pages at /audit/, because AUDIT_OIDC_ISSUER is not set');
    return { endpoints: [] };
  }
  const { auditPages } = await import('./http/pages/endpoints.ts');
  return auditPages({ ...provided, config });
}
