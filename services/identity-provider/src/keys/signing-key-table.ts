import type { Storage } from '@clinical-launch/storage/storage';
import type { JWK } from 'jose';
import { type Kysely, sql } from 'kysely';
import type { KeyTimes } from '../domain/signing-key-lifecycle.ts';
import { openSchema, schema, type Tables } from '../store/tables.ts';

/** A stored key pair. Its private part is encrypted, and its public part has the published form. */
export type StoredKey = KeyTimes & {
  readonly realm: string;
  readonly publicJwk: JWK;
  readonly sealedPrivateJwk: string;
};

export type SigningKeyChange = (table: {
  /** All keys, read while the lock is held. */
  readonly keys: readonly StoredKey[];
  insert(key: StoredKey): Promise<void>;
  prolong(kids: readonly string[], longestTokenSeconds: number): Promise<void>;
  remove(kids: readonly string[]): Promise<void>;
}) => Promise<void>;

/** The key pairs of all realms. All replicas share the key pairs. */
export type SigningKeyTable = {
  read(): Promise<StoredKey[]>;
  /** Changes the table in one transaction, one replica at a time. Returns the keys stored afterwards. */
  change(make: SigningKeyChange): Promise<StoredKey[]>;
};

/** Opens the service's schema, migrated to the newest version. */
export async function openSigningKeyTable(storage: Storage): Promise<SigningKeyTable> {
  const database = await openSchema(storage);
  return {
    read: () => readKeys(database),
    change: (make) =>
      database.transaction().execute(async (transaction) => {
        // If two replicas start at the same time, the second waits here and then reads the keys of the first.
        await sql`select pg_advisory_xact_lock(hashtext(${`${schema}.signing_key`}))`.execute(transaction);
        await make({ keys: await readKeys(transaction), ...changesOn(transaction) });
        return readKeys(transaction);
      }),
  };
}

async function readKeys(database: Kysely<Tables>): Promise<StoredKey[]> {
  const rows = await database.selectFrom('signing_key').selectAll().orderBy('signs_from').execute();
  return rows.map((row) => ({
    kid: row.kid,
    realm: row.realm,
    algorithm: row.algorithm,
    publicJwk: row.public_jwk,
    sealedPrivateJwk: row.sealed_private_jwk,
    signsFrom: row.signs_from.getTime(),
    longestTokenSeconds: row.longest_token_seconds,
  }));
}

function changesOn(database: Kysely<Tables>) {
  return {
    async insert(key: StoredKey) {
      await database
        .insertInto('signing_key')
        .values({
          kid: key.kid,
          realm: key.realm,
          algorithm: key.algorithm,
          public_jwk: sql<JWK>`${JSON.stringify(key.publicJwk)}::jsonb`,
          sealed_private_jwk: key.sealedPrivateJwk,
          signs_from: new Date(key.signsFrom),
          longest_token_seconds: key.longestTokenSeconds,
        })
        .execute();
    },
    async prolong(kids: readonly string[], longestTokenSeconds: number) {
      if (kids.length === 0) return;
      await database
        .updateTable('signing_key')
        .set({ longest_token_seconds: longestTokenSeconds })
        .where('kid', 'in', kids)
        .execute();
    },
    async remove(kids: readonly string[]) {
      if (kids.length === 0) return;
      await database.deleteFrom('signing_key').where('kid', 'in', kids).execute();
    },
  };
}
