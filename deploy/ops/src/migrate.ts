import { openPostgresStorage, separateRoles } from '@clinical-launch/storage/postgres';
import { readCredentials } from './credentials.ts';
import { faultsOfMigrations, type ReleasedSchemas } from './migrations/check-migrations.ts';
import { serviceSchemas } from './migrations/service-migrations.ts';
import { createTrialDatabase } from './migrations/trial-database.ts';
import { databaseAccess, serviceNames } from './service-access.ts';

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
    for (const { schema, migrations } of serviceSchemas) await storage.open(schema, migrations);
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

/** The result of a check. */
export type CheckReport = {
  /** The names of the migrations that are pending, by schema. */
  readonly pending: Readonly<Record<string, readonly string[]>>;
  /** Why processes that use the database now may not work beside them. */
  readonly faults: readonly string[];
};

/**
 * Checks whether the processes of the release before can continue beside the migrations that a database
 * lacks. Changes nothing in it. @throws Error from the database
 */
export async function checkDatabase(url: string, released: ReleasedSchemas): Promise<CheckReport> {
  const storage = await openPostgresStorage({ url, applicationName: 'ops migrate', poolSize: 1 });
  const trial = createTrialDatabase();
  const pending: Record<string, readonly string[]> = {};
  const faults: string[] = [];
  try {
    for (const service of serviceSchemas) {
      const { schema, migrations } = service;
      const applied = await storage.appliedMigrations(schema);
      const lacking = (names: readonly string[]) => names.filter((name) => !applied.includes(name));
      pending[schema] = lacking(Object.keys(migrations));
      // Nothing uses a new schema.
      if (applied.length === 0) continue;
      const skipped = lacking(released.schemas[schema]?.migrations ?? []);
      if (skipped.length > 0) {
        faults.push(
          `${schema}: the database lacks ${skipped.join(', ')}. Update to release ${released.release} first`,
        );
        continue;
      }
      faults.push(...(await faultsOfMigrations(trial, service, { applied, running: released.release })));
    }
  } finally {
    await Promise.all([storage.close(), trial.close()]);
  }
  return { pending, faults };
}
