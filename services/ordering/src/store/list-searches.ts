import type { ListSearch } from '../domain/list-search.ts';
import type { Priority } from '../domain/test-request.ts';
import type { OrderingDatabase, OrderingTransaction } from './database.ts';

/** Searches of launches that were left; sessions end long before. */
const keptForMs = 7 * 86_400_000;

/** Reads what a launch narrows its list to; an empty search when it does not. */
export async function findListSearch(database: OrderingDatabase, launchId: string): Promise<ListSearch> {
  const row = await database
    .selectFrom('list_searches')
    .select(['search', 'priority'])
    .where('launch_id', '=', launchId)
    .executeTakeFirst();
  if (row === undefined) return { text: '' };
  return { text: row.search, ...(row.priority === null ? {} : { priority: row.priority }) };
}

type StoredSearch = { readonly launchId: string; readonly text: string; readonly priority: Priority | null };

/** Stores what a launch narrows its list to, and forgets the searches of launches that were left. */
export async function storeListSearch(
  tx: OrderingTransaction,
  { launchId, text, priority }: StoredSearch,
  now: number,
): Promise<void> {
  const values = { search: text, priority, updated_at: new Date(now).toISOString() };
  await tx
    .insertInto('list_searches')
    .values({ launch_id: launchId, ...values })
    .onConflict((conflict) => conflict.column('launch_id').doUpdateSet(values))
    .execute();
  await tx
    .deleteFrom('list_searches')
    .where('updated_at', '<', new Date(now - keptForMs))
    .execute();
}
