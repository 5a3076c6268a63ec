import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { StorageUnavailable } from './storage-errors.ts';

/**
 * A database in which each service owns one schema. The errors of its queries contain no value of a row or
 * parameter.
 */
export type Storage = {
  /**
   * Migrates the service's schema to its newest version, once however many replicas start together, and
   * returns queries that see only this schema. A role without the right to migrate can open a schema that is
   * up to date.
   * @throws Error when a migration fails, after rolling it back. StorageUnavailable without a database. Error
   * that names the command when a migration is pending and the role may not apply it
   */
  open<Tables extends Record<string, object>>(
    schema: string,
    migrations: Readonly<Record<string, Migration>>,
  ): Promise<Kysely<Tables>>;
  /** Returns whether the database answers. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
};

/**
 * Returns the storage on an open database. Migrations run on `openMigrations()` if given, with other
 * time-outs than queries; it is closed after each.
 */
export function storageOn(
  database: Kysely<Record<never, never>>,
  openMigrations?: () => Kysely<Record<never, never>>,
): Storage {
  return {
    async open<Tables extends Record<string, object>>(
      schema: string,
      migrations: Readonly<Record<string, Migration>>,
    ) {
      const migrating = openMigrations?.();
      try {
        await migrate(migrating ?? database, schema, migrations);
      } finally {
        await migrating?.destroy();
      }
      return database.withSchema(schema).$extendTables<Tables>();
    },
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
 * Kysely creates the schema and its tables if they are absent, and then runs one replica at a time (advisory
 * lock).
 */
async function migrate(
  database: Kysely<Record<never, never>>,
  schema: string,
  migrations: Readonly<Record<string, Migration>>,
): Promise<void> {
  const migrator = new Migrator({
    db: database.withSchema(schema),
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableSchema: schema,
  });
  const { error } = await migrator.migrateToLatest();
  if (error instanceof StorageUnavailable) throw error;
  if (isForbidden(error)) {
    const message = `The schema ${schema} is not up to date. Run \`npm run ops -- migrate\`, then start again`;
    throw new Error(message, { cause: error });
  }
  if (error !== undefined) throw new Error(`The migration of the schema ${schema} failed`, { cause: error });
}

/** SQLSTATE 42501, insufficient_privilege: the role of a single service, which owns no schema. */
const isForbidden = (error: unknown) =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === '42501';
