import { randomUUID } from 'node:crypto';
import type { Clock } from '@clinical-launch/service';
import type { Transaction } from 'kysely';
import type { Draft } from '../domain/draft.ts';
import { jsonb, type OrderingDatabase, type OrderingTables } from './database.ts';

/** Drafts of launches that were left; sessions end long before. */
const keptForMs = 7 * 86_400_000;

const emptyContent = { chosen: [], search: '', clinicalDetails: '' };

export type Drafts = {
  /** The draft of a launch; an empty one that is not kept when nothing was chosen yet. */
  find(launchId: string): Promise<Draft>;
  /** Changes the draft of a launch. Two changes at once run one after the other, and neither is lost. */
  change(launchId: string, change: (draft: Draft) => Draft): Promise<Draft>;
};

/** Keeps what is chosen in each launch. */
export function createDrafts(database: OrderingDatabase, clock: Clock): Drafts {
  return {
    async find(launchId) {
      const row = await database
        .selectFrom('drafts')
        .selectAll()
        .where('launch_id', '=', launchId)
        .executeTakeFirst();
      return row === undefined ? { orderGuid: randomUUID(), version: 0, ...emptyContent } : toDraft(row);
    },
    change(launchId, change) {
      return database.transaction().execute(async (transaction) => {
        const now = clock.now();
        const changed = change(await lockDraft(transaction, launchId, now));
        const { orderGuid: _, version, ...content } = changed;
        await transaction
          .updateTable('drafts')
          .set({ version, content: jsonb(content), updated_at: new Date(now).toISOString() })
          .where('launch_id', '=', launchId)
          .execute();
        return changed;
      });
    },
  };
}

/** The draft of a launch, made when there is none, for this transaction alone until it ends. */
export async function lockDraft(
  transaction: Transaction<OrderingTables>,
  launchId: string,
  now: number,
): Promise<Draft> {
  const made = await transaction
    .insertInto('drafts')
    .values({
      launch_id: launchId,
      order_guid: randomUUID(),
      version: 0,
      content: jsonb(emptyContent),
      updated_at: new Date(now).toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('launch_id')
    .executeTakeFirst();
  if (made !== undefined) await forgetOld(transaction, now);
  const row = await transaction
    .selectFrom('drafts')
    .selectAll()
    .where('launch_id', '=', launchId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return toDraft(row);
}

async function forgetOld(transaction: Transaction<OrderingTables>, now: number): Promise<void> {
  await transaction
    .deleteFrom('drafts')
    .where('updated_at', '<', new Date(now - keptForMs))
    .execute();
}

function toDraft(row: {
  order_guid: string;
  version: number;
  content: OrderingTables['drafts']['content'];
}): Draft {
  return { orderGuid: row.order_guid, version: row.version, ...row.content };
}
