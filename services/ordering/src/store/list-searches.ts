import type { Clock } from '@clinical-launch/service';
import type { Priority } from '../domain/test-request.ts';
import type { OrderingDatabase } from './database.ts';

/** Searches of launches that were left; sessions end long before. */
const keptForMs = 7 * 86_400_000;

/** What the list of a launch is narrowed to; kept here, since it names patients, and an address must not. */
export type ListSearch = { readonly text: string; readonly priority?: Priority };

export type ListSearches = {
  /** The search of a launch; an empty one when none was made. */
  find(launchId: string): Promise<ListSearch>;
  keep(launchId: string, search: ListSearch): Promise<void>;
};

/** Keeps what each launch looks for in its list. */
export function createListSearches(database: OrderingDatabase, clock: Clock): ListSearches {
  return {
    async find(launchId) {
      const row = await database
        .selectFrom('list_searches')
        .select(['search', 'priority'])
        .where('launch_id', '=', launchId)
        .executeTakeFirst();
      if (row === undefined) return { text: '' };
      return { text: row.search, ...(row.priority === null ? {} : { priority: row.priority }) };
    },
    async keep(launchId, { text, priority = null }: { text: string; priority?: Priority | null }) {
      const now = clock.now();
      const values = { search: text, priority, updated_at: new Date(now).toISOString() };
      await database
        .insertInto('list_searches')
        .values({ launch_id: launchId, ...values })
        .onConflict((conflict) => conflict.column('launch_id').doUpdateSet(values))
        .execute();
      await database
        .deleteFrom('list_searches')
        .where('updated_at', '<', new Date(now - keptForMs))
        .execute();
    },
  };
}
