import type { ListSearch } from '../domain/list-search.ts';
import { storeListSearch } from '../store/list-searches.ts';
import type { WorkDependencies } from './launch.ts';

/** Stores the search of a launch's list. */
export async function storeSearch(
  { database, clock }: Pick<WorkDependencies, 'database' | 'clock'>,
  launchId: string,
  search: ListSearch,
): Promise<void> {
  await database.transaction().execute((tx) => storeListSearch(tx, { launchId, ...search }, clock.now()));
}
