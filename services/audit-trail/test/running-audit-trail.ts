import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { loopbackNetworks } from '@clinical-launch/http/outbound-settings';
import type { Environment } from '@clinical-launch/runtime/environment';
import type { Storage } from '@clinical-launch/storage/storage';
import { createTestDependencies, serveForTest } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { startTokenIssuer } from '@clinical-launch/testing/token-issuer';
import { createAccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { issuerPolicies } from '@clinical-launch/trust/issuer-policies';
import { sql } from 'kysely';
import { readAuditTrailConfig, sealKeyFrom } from '../src/config.ts';
import { auditTrail } from '../src/service.ts';
import { createAuditStore } from '../src/store/audit-store.ts';
import { openSchema } from '../src/store/tables.ts';

const audience = 'api://clinical-launch';

type AuditTrailOptions = {
  /** The storage that another replica has opened. Without it, the audit trail has its own storage. */
  readonly shared?: Storage;
  readonly environment?: Environment;
};

/** Starts an audit trail that also trusts a customer's identity provider. */
export async function startAuditTrail({ shared, environment = {} }: AuditTrailOptions = {}) {
  const clock = new TestClock();
  const dependencies = createTestDependencies(clock);
  const storage = shared ?? (await openTestStorage());
  const issuer = await startTokenIssuer({ clock, audience });
  const customer = await startTokenIssuer({ clock, audience });
  const trustedIssuers = [{ issuer: customer.issuer, clients: [{ clientId: 'pms' }] }];
  const addresses = {
    publicUrl: 'https://launch.example',
    identityProviderUrl: 'https://launch.example/idp',
  };
  const tokens = createAccessTokenVerifier({
    issuers: [
      {
        issuer: issuer.issuer,
        audiences: [audience],
        rightClaims: ['scope'],
        isConfigured: false,
        requiresAccessTokenType: true,
        clientIdClaims: ['client_id'],
        requiresKeyId: true,
        clients: new Map(
          ['audit', 'pms'].map((clientId) => [clientId, { grants: ['audit.read'], policy: {} }]),
        ),
      },
      ...issuerPolicies({ realms: [], trustedIssuers }, { ...addresses, audience }),
    ],
    clock,
    fetchOutbound: createOutboundFetch({ allowedNetworks: loopbackNetworks }),
  });
  const config = readAuditTrailConfig(environment);
  const service = await auditTrail(config, { ...dependencies, storage, tokens, events: dependencies.bus });
  const server = await serveForTest({ mounts: [{ path: '/', service }], dependencies });
  const token = await issuer.sign({ claims: { client_id: 'audit', scope: 'audit.read' } });

  return {
    ...dependencies,
    clock,
    storage,
    issuer,
    customer,
    url: server.url,
    token,
    pseudonyms: config.pseudonyms,
    /** Publishes events and waits until the audit trail has handled them. */
    async publish(...events: CloudEvent[]) {
      await dependencies.bus.publish(events);
      await dependencies.bus.idle();
    },
    /** Stores events directly, because the bus accepts only types of the catalogue. */
    async append(...events: CloudEvent[]) {
      const database = await openSchema(storage);
      await createAuditStore({ database, sealKey: sealKeyFrom(config.keys) }).append(events);
    },
    /** Runs `work` while the database refuses events with the reason `poison`. */
    async withoutPoison(work: () => Promise<void>) {
      const database = await openSchema(storage);
      await sql`alter table audit_trail.audit_event add constraint no_poison
        check (reason is distinct from 'poison')`.execute(database);
      await work();
      await sql`alter table audit_trail.audit_event drop constraint no_poison`.execute(database);
    },
    async stop() {
      await server.stop();
      await issuer.stop();
      await customer.stop();
      if (shared === undefined) await storage.close();
    },
  };
}
