import { migrations as ofAuditTrail } from '@clinical-launch/audit-trail/store/tables';
import { migrations as ofIdentityProvider } from '@clinical-launch/identity-provider/store/tables';
import { migrations as ofOrderRenderer } from '@clinical-launch/order-renderer/store/tables';
import { migrations as ofOrdering } from '@clinical-launch/ordering/store/database';
import type { Progress } from '@clinical-launch/process/command-line';
import { separateRoles } from '@clinical-launch/storage/database-roles';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import type { ServiceMigrations } from '@clinical-launch/storage/service-migration';
import type { Storage } from '@clinical-launch/storage/storage';
import { databaseAccess, type ServiceName, serviceNames } from './access.ts';
import { readCredentials } from './credentials.ts';

const migrationsOf: Readonly<Partial<Record<ServiceName, ServiceMigrations>>> = {
  'audit-trail': ofAuditTrail,
  'identity-provider': ofIdentityProvider,
  'order-renderer': ofOrderRenderer,
  ordering: ofOrdering,
};

const serviceSchemas = Object.entries(databaseAccess).map(([service, { schema }]) => {
  const migrations = migrationsOf[service as ServiceName];
  if (migrations === undefined) throw new TypeError(`The migrations of ${service} are not listed`);
  return { schema, migrations };
});

export type MigrationReport = { readonly schemas: readonly string[]; readonly roles: readonly string[] };

/**
 * Applies the migrations of every service as the owner of the database. If `credentials` names a directory,
 * also gives each service a role that can access only its own schema.
 * @throws UsageError if a credential is missing (in this case, nothing has been changed), and the errors of
 * the database
 */
export async function migrate(
  url: string,
  { credentials, progress }: { readonly credentials: string | undefined; readonly progress: Progress },
): Promise<MigrationReport> {
  const roles = credentials === undefined ? [] : rolesOf(credentials);
  await withStorage(url, async (storage) => {
    for (const { schema, migrations } of serviceSchemas) {
      progress(`migrating ${schema}`);
      await storage.open(schema, migrations);
    }
  });
  if (roles.length > 0) await separateRoles(url, roles);
  return { schemas: serviceSchemas.map(({ schema }) => schema), roles: roles.map(({ name }) => name) };
}

function rolesOf(directory: string) {
  return serviceNames.flatMap((service) => {
    const access = databaseAccess[service];
    return access === undefined
      ? []
      : [{ ...access, ...readCredentials(directory, service, 'database-url') }];
  });
}

/** The names of the migrations that a database lacks, by schema. */
export type PendingMigrations = Readonly<Record<string, readonly string[]>>;

/** Returns the pending migrations without changing anything. @throws Error from the database */
export const findPending = (url: string): Promise<PendingMigrations> =>
  withStorage(url, async (storage) => {
    const pending: Record<string, readonly string[]> = {};
    for (const { schema, migrations } of serviceSchemas) {
      const applied = await storage.appliedMigrations(schema);
      pending[schema] = Object.keys(migrations).filter((name) => !applied.includes(name));
    }
    return pending;
  });

async function withStorage<Result>(url: string, use: (storage: Storage) => Promise<Result>): Promise<Result> {
  const storage = await openPostgresStorage({ url, applicationName: 'ops migrate', poolSize: 1 });
  return use(storage).finally(() => storage.close());
}
