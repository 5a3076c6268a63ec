import { readFileSync } from 'node:fs';
import { pause } from '@clinical-launch/runtime/clock';
import { errorCode } from '@clinical-launch/runtime/logged-error';
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { compareReleases, lastReleaseBefore, type ServiceMigrations } from './service-migration.ts';
import { StorageUnavailable } from './storage-errors.ts';

/**
 * A database with a separate schema for each service. The errors of its queries contain no value of a row or
 * parameter.
 */
export type Storage = {
  /**
   * Migrates the service's schema to its newest version, once even if several replicas start together, and
   * returns queries that see only this schema. A role without the right to migrate can open a schema that is
   * up to date. A process of one release can open the schema of the next release, for updates and rollbacks.
   * @throws Error when a migration fails, after rolling it back. StorageUnavailable when the database cannot
   *   be reached. Error that names the command when a migration is pending and the role may not apply it.
   *   Error when a later release removed something that this release uses
   */
  open<Tables extends Record<string, object>>(
    schema: string,
    migrations: ServiceMigrations,
  ): Promise<Kysely<Tables>>;
  /** Returns the names of the migrations that were applied to a schema; an empty list for a new schema. */
  appliedMigrations(schema: string): Promise<readonly string[]>;
  isReady(): Promise<boolean>;
  /** Measures a database server and the pool of connections to it; absent for an embedded database. */
  readonly load?: { readonly server: () => Promise<DatabaseLevel>; readonly pool: () => PoolLevel };
  close(): Promise<void>;
};

export type DatabaseLevel = {
  readonly connections: number;
  readonly maxConnections: number;
  /** The size of the database on disk, without the write-ahead log. */
  readonly bytes: number;
};

export type PoolLevel = {
  readonly idle: number;
  readonly used: number;
  readonly max: number;
  /** Requests that wait for a connection. */
  readonly pending: number;
};

/** Measures the database server. Every database role has the right to do so. */
export async function measureServer(database: Kysely<Record<never, never>>): Promise<DatabaseLevel> {
  const { rows } = await sql<{ connections: string; most: string; bytes: string }>`
    select (select sum(numbackends) from pg_stat_database) as connections,
      current_setting('max_connections') as most,
      pg_database_size(current_database()) as bytes`.execute(database);
  const [{ connections, most, bytes } = { connections: 0, most: 0, bytes: 0 }] = rows;
  return { connections: Number(connections), maxConnections: Number(most), bytes: Number(bytes) };
}

/** The time that `open` waits while the database starts or its owner migrates it. */
export type SchemaWait = {
  readonly withinMs: number;
  /** Called once for each schema that is not ready yet, with the error. */
  readonly onWaiting?: (error: unknown) => void;
};

type StorageOnOptions = {
  /** Opens connections without the statement timeout of queries. The caller closes them after each use. */
  readonly openMigrations?: () => Kysely<Record<never, never>>;
  /** If absent and the schema is not ready, `open` fails immediately. */
  readonly schemaWait?: SchemaWait | undefined;
};

/** Creates a storage on an open database. */
export function storageOn(
  database: Kysely<Record<never, never>>,
  { openMigrations, schemaWait = { withinMs: 0 } }: StorageOnOptions = {},
): Storage {
  return {
    async open<Tables extends Record<string, object>>(schema: string, migrations: ServiceMigrations) {
      await whenPrepared(schemaWait, async () => {
        const migrating = openMigrations?.();
        try {
          await migrate(migrating ?? database, schema, migrations);
        } finally {
          await migrating?.destroy();
        }
      });
      return database.withSchema(schema).$extendTables<Tables>();
    },
    appliedMigrations: (schema) => appliedMigrations(database, schema),
    async isReady() {
      return sql`select 1`.execute(database).then(
        () => true,
        () => false,
      );
    },
    close: () => database.destroy(),
  };
}

/**
 * Migrates a schema with Kysely, which creates the schema and its tables if they are absent. With an advisory
 * lock, Kysely lets only one replica migrate at a time.
 */
async function migrate(
  database: Kysely<Record<never, never>>,
  schema: string,
  migrations: ServiceMigrations,
): Promise<void> {
  try {
    const later = await laterMigrations(database, schema, migrations);
    const migrator = new Migrator({
      db: database.withSchema(schema),
      provider: { getMigrations: async () => ({ ...migrations, ...later }) },
      migrationTableSchema: schema,
    });
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
  } catch (error) {
    if (error instanceof StorageUnavailable || error instanceof SchemaTooNewError) throw error;
    if (isForbidden(error)) {
      const message = `The schema ${schema} is not up to date. Run \`./clinical-launch migrate\`, then start again`;
      throw new Error(message, { cause: error });
    }
    throw new Error(`The migration of the schema ${schema} failed`, { cause: error });
  }
}

/** Thrown if a later release changed the schema so that this release cannot use it. */
class SchemaTooNewError extends Error {
  override name = 'SchemaTooNewError';
}

/**
 * Returns the migrations that a later release applied, which Kysely must know to accept the schema.
 * @throws SchemaTooNewError when a later migration removed something that this release uses
 */
async function laterMigrations(
  database: Kysely<Record<never, never>>,
  schema: string,
  migrations: ServiceMigrations,
): Promise<Readonly<Record<string, Migration>>> {
  const newest = Object.keys(migrations).toSorted().at(-1) ?? '';
  const later = (await appliedMigrations(database, schema)).filter((name) => name > newest);
  const ending = later.find((name) => {
    const last = lastReleaseBefore(name);
    return last !== undefined && compareReleases(release, last) <= 0;
  });
  if (ending !== undefined) {
    throw new SchemaTooNewError(
      `The schema ${schema} has the migration ${ending}: this release, ${release}, can no longer use it. ` +
        'Start a later release',
    );
  }
  return Object.fromEntries(later.map((name) => [name, { up: () => Promise.resolve() }]));
}

async function appliedMigrations(
  database: Kysely<Record<never, never>>,
  schema: string,
): Promise<readonly string[]> {
  const table = `${schema}.kysely_migration`;
  const { rows: found } = await sql<{ exists: boolean }>`
    select to_regclass(${table}) is not null as exists`.execute(database);
  if (found[0]?.exists !== true) return [];
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)} order by name`.execute(
    database,
  );
  return rows.map(({ name }) => name);
}

const secondMs = 1000;

/** Retries a migration each second while the database is being prepared. @throws its last error */
async function whenPrepared({ withinMs, onWaiting }: SchemaWait, run: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let attempts = 0; ; attempts += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isBeingPrepared(error) || performance.now() + secondMs > deadline) throw error;
      if (attempts === 0) onWaiting?.(error);
    }
    await pause(secondMs);
  }
}

/**
 * Until the owner has run `migrate`, the role of a service cannot read its schema, or does not exist:
 * SQLSTATE 42501 insufficient_privilege, 28P01 invalid_password, 28000 invalid_authorization_specification.
 */
const isBeingPrepared = (error: unknown) =>
  error instanceof StorageUnavailable ||
  (error instanceof Error && ['42501', '28P01', '28000'].includes(String(errorCode(error.cause))));

/** Returns whether the role lacks a right. The role of a service owns no schema, so it may not migrate. */
const isForbidden = (error: unknown) => errorCode(error) === '42501';

export const { version: release } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string };
