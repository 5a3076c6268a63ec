import { openSchema as openAuditSchema } from '@clinical-launch/audit-trail';
import { openSigningKeyTable } from '@clinical-launch/identity-provider';
import { openSchema } from '@clinical-launch/order-renderer';
import { openOrderingDatabase } from '@clinical-launch/ordering';
import type { Storage } from '@clinical-launch/storage';
import { openPostgresStorage, separateRoles } from '@clinical-launch/storage/postgres';
import { readCredentials } from './credentials.ts';
import { databaseAccess, type ServiceName, serviceNames } from './service-access.ts';

/** Opens each schema at its newest migration. */
const schemas: Readonly<Partial<Record<ServiceName, (storage: Storage) => Promise<unknown>>>> = {
  'identity-provider': openSigningKeyTable,
  ordering: openOrderingDatabase,
  'order-renderer': openSchema,
  'audit-trail': openAuditSchema,
};

/** The result of the command. */
export type MigrationReport = { readonly schemas: readonly string[]; readonly roles: readonly string[] };

/**
 * Applies the migrations of every service as the owner of the database. If `credentials` names a directory,
 * also gives each service a role that can access only its own schema.
 * @throws UsageError when a credential is missing; then nothing has been changed. Error from the database
 */
export async function migrate(url: string, credentials?: string): Promise<MigrationReport> {
  const roles = credentials === undefined ? [] : rolesOf(credentials);
  const storage = await openPostgresStorage({ url, applicationName: 'ops migrate', poolSize: 1 });
  try {
    for (const open of Object.values(schemas)) await open(storage);
  } finally {
    await storage.close();
  }
  if (roles.length > 0) await separateRoles(url, roles);
  return {
    schemas: Object.values(databaseAccess).map(({ schema }) => schema),
    roles: roles.map(({ name }) => name),
  };
}

function rolesOf(directory: string) {
  return serviceNames.flatMap((service) => {
    const access = databaseAccess[service];
    return access === undefined
      ? []
      : [{ ...access, ...readCredentials(directory, service, 'database-url') }];
  });
}
