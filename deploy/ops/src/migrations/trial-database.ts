import type { ServiceMigrations, Storage } from '@clinical-launch/storage';
import { describeSchema, type SchemaDescription } from '@clinical-launch/storage/schema';

/** An embedded database in which the migrations of one schema after the other are applied. */
export type TrialDatabase = {
  /** Applies the migrations that the schema lacks, and describes it. @throws Error of a migration */
  describeWith(schema: string, migrations: ServiceMigrations): Promise<SchemaDescription>;
  /** Removes a schema, so that its migrations can be applied again. */
  drop(schema: string): Promise<void>;
  close(): Promise<void>;
};

/** Prepares an embedded database, which takes half a second: it is opened only if a migration is applied. */
export function createTrialDatabase(): TrialDatabase {
  let storage: Promise<Storage> | undefined;
  let database: Awaited<ReturnType<Storage['open']>> | undefined;
  return {
    async describeWith(schema, migrations) {
      storage ??= openEmbedded();
      database = await (await storage).open(schema, migrations);
      return describeSchema(database, schema);
    },
    async drop(schema) {
      await database?.schema.dropSchema(schema).ifExists().cascade().execute();
    },
    async close() {
      await (await storage)?.close();
    },
  };
}

/** Runs work with a trial database, and closes it. */
export async function withTrialDatabase<Result>(
  use: (trial: TrialDatabase) => Promise<Result>,
): Promise<Result> {
  const trial = createTrialDatabase();
  return use(trial).finally(() => trial.close());
}

async function openEmbedded(): Promise<Storage> {
  // Loaded here: the migrations themselves are applied where there is no embedded database.
  const { openEmbeddedStorage } = await import('@clinical-launch/storage/embedded');
  return openEmbeddedStorage();
}
