import type { ListSearch } from '../domain/list-search.ts';
import type { Priority } from '../domain/test-request.ts';
import type { OrderingDatabase, OrderingTransaction } from './database.ts';

/** Milliseconds that the search of an abandoned launch is stored; sessions end long before. */
const keptForMs = 7 * 86_400_000;

/** Reads the search of a launch's list; an empty search if there is none. */
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

/** Stores the search of a launch's list, and deletes the searches of abandoned launches. */
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
