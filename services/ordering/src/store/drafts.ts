import { randomUUID } from 'node:crypto';
import type { Clock } from '@clinical-launch/service';
import type { Selectable, Transaction } from 'kysely';
import { type Draft, emptyDraft } from '../domain/draft.ts';
import { jsonb, type OrderingDatabase, type OrderingTables } from './database.ts';

/** Drafts of launches that were left; sessions end long before. */
const keptForMs = 7 * 86_400_000;

/** Where a draft belongs: `target` is the request that it changes, or the launch itself when it is a new order. */
export type DraftPlace = { readonly launchId: string; readonly target: string };

export type Drafts = {
  /** The draft at a place; the one that it begins with, not kept, when nothing was done yet. */
  find(place: DraftPlace, begin?: BeginDraft): Promise<Draft>;
  /** Whether something was done at a place. */
  isKept(place: DraftPlace): Promise<boolean>;
  /** Changes a draft. Two changes at once run one after the other, and neither is lost. */
  change(place: DraftPlace, change: (draft: Draft) => Draft, begin?: BeginDraft): Promise<Draft>;
};

/** What a draft holds before its user has done anything. */
export type BeginDraft = (submissionId: string) => Draft;

/** Keeps what is chosen in each launch. */
export function createDrafts(database: OrderingDatabase, clock: Clock): Drafts {
  return {
    async find({ launchId, target }, begin = emptyDraft) {
      const row = await database
        .selectFrom('drafts')
        .selectAll()
        .where('launch_id', '=', launchId)
        .where('target', '=', target)
        .executeTakeFirst();
      return row === undefined ? begin(randomUUID()) : toDraft(row);
    },
    async isKept({ launchId, target }) {
      const row = await database
        .selectFrom('drafts')
        .select('version')
        .where('launch_id', '=', launchId)
        .where('target', '=', target)
        .executeTakeFirst();
      return row !== undefined;
    },
    change(place, change, begin) {
      return database.transaction().execute(async (transaction) => {
        const now = clock.now();
        const changed = change(await lockDraft(transaction, place, { now, begin }));
        await keepDraft(transaction, place, { draft: changed, now });
        return changed;
      });
    },
  };
}

/** The draft at a place, made when there is none, for this transaction alone until it ends. */
export async function lockDraft(
  transaction: Transaction<OrderingTables>,
  { launchId, target }: DraftPlace,
  { now, begin = emptyDraft }: { now: number; begin?: BeginDraft | undefined },
): Promise<Draft> {
  const { submissionId, version, ...content } = begin(randomUUID());
  const made = await transaction
    .insertInto('drafts')
    .values({
      launch_id: launchId,
      target,
      submission_id: submissionId,
      version,
      content: jsonb(content),
      updated_at: new Date(now).toISOString(),
    })
    .onConflict((conflict) => conflict.columns(['launch_id', 'target']).doNothing())
    .returning('launch_id')
    .executeTakeFirst();
  if (made !== undefined) await forgetOld(transaction, now);
  const row = await transaction
    .selectFrom('drafts')
    .selectAll()
    .where('launch_id', '=', launchId)
    .where('target', '=', target)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return toDraft(row);
}

/** Puts a draft in the place of the one that this transaction holds. */
export async function keepDraft(
  transaction: Transaction<OrderingTables>,
  { launchId, target }: DraftPlace,
  { draft, now }: { draft: Draft; now: number },
): Promise<void> {
  const { submissionId, version, ...content } = draft;
  await transaction
    .updateTable('drafts')
    .set({
      submission_id: submissionId,
      version,
      content: jsonb(content),
      updated_at: new Date(now).toISOString(),
    })
    .where('launch_id', '=', launchId)
    .where('target', '=', target)
    .execute();
}

async function forgetOld(transaction: Transaction<OrderingTables>, now: number): Promise<void> {
  await transaction
    .deleteFrom('drafts')
    .where('updated_at', '<', new Date(now - keptForMs))
    .execute();
}

/** A draft that an older release kept lacks what was added since. */
function toDraft({ submission_id, version, content }: Selectable<OrderingTables['drafts']>): Draft {
  return { ...emptyDraft(submission_id), ...content, version };
}
