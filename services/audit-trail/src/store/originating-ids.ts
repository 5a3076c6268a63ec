import type { HeldClaim } from '@clinical-launch/tickets';
import { type ColumnType, type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Milliseconds since 1970; the drivers return a bigint as text. */
type Milliseconds = ColumnType<string, number, number>;

export type OriginatingIdTables = {
  originating_id: { name: string; holder: string; claimed_at: Milliseconds; expires_at: Milliseconds };
};

/** Adds the table of callers' identifiers: only hashes, no values of a caller. */
export function addOriginatingIds(schema: string): Migration {
  return {
    async up(db) {
      await sql`create table ${sql.id(schema)}.originating_id (
        name text primary key,
        holder text not null,
        claimed_at bigint not null,
        expires_at bigint not null
      )`.execute(db);
      await sql`create index originating_id_by_expiry on ${sql.id(schema)}.originating_id (expires_at)`.execute(
        db,
      );
    },
  };
}

export type OriginatingIds = {
  /** Records a claim. Of two live claims the earlier one stays, in whatever order they arrive. */
  record(claim: HeldClaim & { readonly claimedAt: number }): Promise<void>;
  /** Returns all live claims, page by page. */
  live(now: number): AsyncIterable<readonly HeldClaim[]>;
  deleteExpired(now: number): Promise<void>;
};

const pageSize = 5000;

/** Creates the store of callers' identifiers, so that they outlive the loss of Redis. */
export function createOriginatingIds(database: Kysely<OriginatingIdTables>): OriginatingIds {
  const pageAfter = (cursor: string, now: number) =>
    database
      .selectFrom('originating_id')
      .select(['name', 'holder', 'expires_at'])
      .where('name', '>', cursor)
      .where('expires_at', '>', String(now))
      .orderBy('name')
      .limit(pageSize)
      .execute();
  return {
    async record({ name, holder, claimedAt, expiresAt }) {
      const row = { name, holder, claimed_at: claimedAt, expires_at: expiresAt };
      await database
        .insertInto('originating_id')
        .values(row)
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet(row)
            .where((known) =>
              known.or([
                known('originating_id.claimed_at', '>', String(claimedAt)),
                known('originating_id.expires_at', '<=', String(claimedAt)),
              ]),
            ),
        )
        .execute();
    },
    async *live(now) {
      for (let cursor = ''; ; ) {
        const rows = await pageAfter(cursor, now);
        const last = rows.at(-1);
        if (last === undefined) return;
        yield rows.map(({ expires_at, ...claim }) => ({ ...claim, expiresAt: Number(expires_at) }));
        cursor = last.name;
      }
    },
    async deleteExpired(now) {
      await database.deleteFrom('originating_id').where('expires_at', '<=', String(now)).execute();
    },
  };
}
