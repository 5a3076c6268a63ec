import type { ListSearch } from '../domain/list-search.ts';
import { jsonb, type OrderingDatabase, type OrderingTransaction } from './database.ts';

/** After this time without a change, a search is deleted. The session of its launch ends much earlier. */
const retentionMs = 7 * 86_400_000;

/** Reads the search of a launch's list. Without a stored search, returns an empty search. */
export async function findListSearch(database: OrderingDatabase, launchId: string): Promise<ListSearch> {
  const row = await database
    .selectFrom('list_searches')
    .select(['search', 'priority', 'filters'])
    .where('launch_id', '=', launchId)
    .executeTakeFirst();
  if (row === undefined) return { text: '', filters: {} };
  const { search: text, priority, filters } = row;
  return { text, ...(priority === null ? {} : { priority }), filters };
}

/** Stores the search of a launch's list, and deletes old searches of other launches. */
export async function storeListSearch(
  tx: OrderingTransaction,
  { launchId, text, priority, filters }: ListSearch & { readonly launchId: string },
  now: number,
): Promise<void> {
  const values = {
    search: text,
    priority: priority ?? null,
    filters: jsonb(filters),
    updated_at: new Date(now).toISOString(),
  };
  await tx
    .insertInto('list_searches')
    .values({ launch_id: launchId, ...values })
    .onConflict((conflict) => conflict.column('launch_id').doUpdateSet(values))
    .execute();
  await tx
    .deleteFrom('list_searches')
    .where('updated_at', '<', new Date(now - retentionMs))
    .execute();
}
