import type { Outbox } from '@clinical-launch/events/event-bus';
import type { Mounted } from '@clinical-launch/http/app';
import { endpoint } from '@clinical-launch/http/endpoint';
import { fhirDialect, problemDialect } from '@clinical-launch/http/errors';
import { publishDocument } from '@clinical-launch/http/published-document';
import { openLogSender } from '@clinical-launch/process/log-records';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import type { Storage } from '@clinical-launch/storage/storage';
import type { Claims } from '@clinical-launch/tickets/claims';
import type { AccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { type AuditTrailConfig, sealKeyFrom } from './config.ts';
import { onEvent, onLaunchUrlIssued } from './consumers/on-event.ts';
import { auditRefusal, behindReader } from './http/audit-reader.ts';
import { findEvents } from './http/find-events.ts';
import type { EndedSessions } from './http/pages/session.ts';
import type { PagesDependencies } from './http/pages/visit.ts';
import { searchByAddress, searchByBody, searchFhir } from './http/search-events.ts';
import { createLagMeter } from './metrics.ts';
import { createActivity } from './store/activity.ts';
import { createAuditSearch } from './store/audit-search.ts';
import { createAuditStore } from './store/audit-store.ts';
import { createChainReader } from './store/chain-reader.ts';
import { createCheckpoints } from './store/checkpoints.ts';
import { createExportedRows } from './store/exported-rows.ts';
import { createKnownParties, createLaunchingClients } from './store/known-parties.ts';
import { createOriginatingIds } from './store/originating-ids.ts';
import { createPartitions } from './store/partitions.ts';
import { createProgress } from './store/progress.ts';
import { type AuditDatabase, openSchema } from './store/tables.ts';
import { startLogExport } from './work/export-logs.ts';
import { startPartitions } from './work/maintain-partitions.ts';
import { startClaimRestorer } from './work/restore-claims.ts';
import { startCheckpoints } from './work/sign-checkpoints.ts';
import { storeEvents } from './work/store-events.ts';
import { startVerification } from './work/verify-regularly.ts';

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
  const { storage, tokens, events } = provided;
  const database = await openSchema(storage);
  const log = startLog(config, { ...provided, database });
  const { store } = log;
  const clients = createLaunchingClients(database);
  const parties = createKnownParties(database);
  const originatingIds = createOriginatingIds(database);
  const restorer = await startClaimRestorer({ ...provided, originatingIds });
  const storing = storeEvents({ store, clients, parties });
  const { pseudonyms, publicUrl } = config;
  const reading = { tokens, events, pseudonyms };
  const searching = { ...reading, publicUrl, search: createAuditSearch(database) };
  const api = { source: '/audit-trail', dialect: problemDialect(config), audit: auditRefusal('events') };
  const fhirApi = { ...api, dialect: fhirDialect, audit: auditRefusal('fhir') };
  const find = findEvents({ ...reading, store, search: searchByAddress(searching) });
  const byBody = searchByBody(searching);
  const byFhir = behindReader(reading, searchFhir(searching));
  const pages = await openPages(config, {
    ...provided,
    ...searching,
    parties,
    readActivity: createActivity(database),
  });
  return {
    name: 'audit-trail',
    ...pages,
    endpoints: [
      endpoint({
        ...api,
        path: '/audit/events',
        headers: { Vary: 'Accept' },
        methods: { GET: behindReader(reading, find) },
      }),
      endpoint({ ...api, path: '/audit/events/_search', methods: { POST: behindReader(reading, byBody) } }),
      endpoint({ ...fhirApi, path: '/audit/AuditEvent', methods: { GET: byFhir } }),
      endpoint({ ...fhirApi, path: '/audit/AuditEvent/_search', methods: { POST: byFhir } }),
      endpoint({ ...api, path: '/audit/openapi.json', methods: { GET: describeApi(config) } }),
      ...pages.endpoints,
    ],
    consumers: [
      onEvent({ store: storing, onStored: createLagMeter(provided.clock) }),
      onLaunchUrlIssued({ ...provided, originatingIds }),
    ],
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

type LogDependencies = Pick<AuditTrailDependencies, 'clock' | 'logger'> & {
  readonly database: AuditDatabase;
};

function startLog(config: AuditTrailConfig, { database, ...tools }: LogDependencies) {
  const { keys } = config;
  const chain = createChainReader(database);
  const checkpoints = createCheckpoints(database, keys);
  const options = { ...config, ...tools, chain, checkpoints };
  const signer = startCheckpoints(options);
  const partitions = startPartitions({ ...options, partitions: createPartitions(database) });
  const progress = createProgress(database);
  const verification = startVerification({ ...options, progress });
  const receiver = openLogSender(config.telemetry, 'audit-trail');
  const rows = createExportedRows(database);
  const logExport = receiver && startLogExport({ ...options, progress, rows, receiver });
  const store = createAuditStore({
    database,
    sealKey: sealKeyFrom(keys),
    onStored(stored) {
      signer.onStored(stored);
      logExport?.nudge();
    },
  });
  return {
    store,
    async stop() {
      await partitions.stop();
      await verification.stop();
      await logExport?.stop();
      await signer.stop();
    },
  };
}
