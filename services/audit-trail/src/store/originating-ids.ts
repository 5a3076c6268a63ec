import type { HeldClaim } from '@clinical-launch/tickets/claims';
import type { ColumnType, Kysely } from 'kysely';

/** Milliseconds since 1970. The drivers return a bigint as text. */
type Milliseconds = ColumnType<string, number, number>;

export type OriginatingIdTables = {
  originating_id: { name: string; holder: string; claimed_at: Milliseconds; expires_at: Milliseconds };
};

export type RecordedClaim = HeldClaim & { readonly claimedAt: number };

export type OriginatingIds = ReturnType<typeof createOriginatingIds>;

const pageSize = 5000;

/** Creates the store of callers' identifiers. The store preserves the identifiers if Redis loses its data. */
export function createOriginatingIds(database: Kysely<OriginatingIdTables>) {
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
    /**
     * Records claims. If two claims on a name overlap, keeps the earlier claim, whatever their order of
     * arrival.
     */
    async record(claims: readonly RecordedClaim[]): Promise<void> {
      const rows = lastingOf(claims).map(({ name, holder, claimedAt, expiresAt }) => ({
        name,
        holder,
        claimed_at: claimedAt,
        expires_at: expiresAt,
      }));
      if (rows.length === 0) return;
      await database
        .insertInto('originating_id')
        .values(rows)
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet((row) => ({
              holder: row.ref('excluded.holder'),
              claimed_at: row.ref('excluded.claimed_at'),
              expires_at: row.ref('excluded.expires_at'),
            }))
            .where((known) =>
              known.or([
                known('originating_id.claimed_at', '>', known.ref('excluded.claimed_at')),
                known('originating_id.expires_at', '<=', known.ref('excluded.claimed_at')),
              ]),
            ),
        )
        .execute();
    },
    /** Returns all unexpired claims, page by page. */
    async *live(now: number): AsyncGenerator<readonly HeldClaim[]> {
      for (let cursor = ''; ; ) {
        const rows = await pageAfter(cursor, now);
        const last = rows.at(-1);
        if (last === undefined) return;
        yield rows.map(({ expires_at, ...claim }) => ({ ...claim, expiresAt: Number(expires_at) }));
        cursor = last.name;
      }
    },
    async deleteExpired(now: number): Promise<void> {
      await database.deleteFrom('originating_id').where('expires_at', '<=', String(now)).execute();
    },
  };
}

/**
 * Returns one claim for each name, because a statement can change a row only once. Keeps the same claim as if
 * the claims were recorded one by one. Sorts the claims by name, so that two replicas never deadlock.
 */
function lastingOf(claims: readonly RecordedClaim[]): readonly RecordedClaim[] {
  const lasting = new Map<string, RecordedClaim>();
  for (const claim of claims) {
    const known = lasting.get(claim.name);
    const isReplaced =
      known === undefined || known.claimedAt > claim.claimedAt || known.expiresAt <= claim.claimedAt;
    if (isReplaced) lasting.set(claim.name, claim);
  }
  return [...lasting.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
