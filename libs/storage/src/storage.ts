import { PGlite, types } from '@electric-sql/pglite';
import { Kysely, PGliteDialect, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';

/** A database in which each service owns one schema. */
export type Storage = {
  /**
   * Brings the service's schema to its newest migration, once however many replicas start together, and gives
   * the queries that see this schema alone.
   * @throws Error when a migration fails; nothing of it stays.
   */
  open<Tables extends Record<string, object>>(
    schema: string,
    migrations: Readonly<Record<string, Migration>>,
  ): Promise<Kysely<Tables>>;
  /** Whether the database answers. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
};

/**
 * Opens an embedded PostgreSQL (PGlite, WebAssembly) that lives in this process's memory and ends with it.
 * It has one connection: transactions run one after the other.
 */
export async function openEmbeddedStorage(): Promise<Storage> {
  // int8 as a string, as the pg driver has it: a count must not change its type with the database.
  const pglite = await PGlite.create({ parsers: { [types.INT8]: (value) => value } });
  return storageOn(new Kysely<Record<never, never>>({ dialect: new PGliteDialect({ pglite }) }));
}

function storageOn(database: Kysely<Record<never, never>>): Storage {
  return {
    async open<Tables extends Record<string, object>>(
      schema: string,
      migrations: Readonly<Record<string, Migration>>,
    ) {
      await sql`create schema if not exists ${sql.id(schema)}`.execute(database);
      const migrator = new Migrator({
        db: database.withSchema(schema),
        provider: { getMigrations: async () => ({ ...migrations }) },
        migrationTableSchema: schema,
      });
      const { error } = await migrator.migrateToLatest();
      if (error !== undefined) throw new Error(`The schema ${schema} cannot be migrated`, { cause: error });
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
