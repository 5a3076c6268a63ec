import type { Selectable } from 'kysely';
import { type Draft, type DraftPlace, emptyDraft, hasContent } from '../domain/draft.ts';
import { jsonb, type OrderingDatabase, type OrderingTables, type OrderingTransaction } from './database.ts';

/** After this time without a change, a draft is deleted. The session of its launch ends much earlier. */
const retentionMs = 7 * 86_400_000;

/** Finds a draft by its key. Returns undefined if the user has changed nothing yet. */
export async function findDraft(
  database: OrderingDatabase,
  { launchId, target }: DraftPlace,
): Promise<Draft | undefined> {
  const row = await database
    .selectFrom('drafts')
    .selectAll()
    .where('launch_id', '=', launchId)
    .where('target', '=', target)
    .executeTakeFirst();
  return row === undefined ? undefined : toDraft(row);
}

type Beginning = {
  /** The draft to store if the table contains no draft for this key. */
  readonly beginning: Draft;
  /** Milliseconds since 1970-01-01T00:00:00Z */
  readonly now: number;
};

/**
 * Returns a draft by its key, and locks it until the end of the transaction. Of two concurrent changes, the
 * second waits and then reads the result of the first.
 */
export async function lockDraft(
  tx: OrderingTransaction,
  place: DraftPlace,
  { beginning, now }: Beginning,
): Promise<Draft> {
  const { launchId, target } = place;
  const { submissionId, version, ...content } = beginning;
  const made = await tx
    .insertInto('drafts')
    .values({
      launch_id: launchId,
      target,
      owner_key: ownerOf(beginning, place),
      submission_id: submissionId,
      version,
      content: jsonb(content),
      updated_at: new Date(now).toISOString(),
    })
    .onConflict((conflict) => conflict.columns(['launch_id', 'target']).doNothing())
    .returning('launch_id')
    .executeTakeFirst();
  if (made !== undefined) await forgetOld(tx, now);
  const row = await tx
    .selectFrom('drafts')
    .selectAll()
    .where('launch_id', '=', launchId)
    .where('target', '=', target)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return toDraft(row);
}

/** Replaces the draft that this transaction has locked. */
export async function storeDraft(
  tx: OrderingTransaction,
  place: DraftPlace,
  { draft, now }: { draft: Draft; now: number },
): Promise<void> {
  const { launchId, target } = place;
  const { submissionId, version, ...content } = draft;
  await tx
    .updateTable('drafts')
    .set({
      owner_key: ownerOf(draft, place),
      submission_id: submissionId,
      version,
      content: jsonb(content),
      updated_at: new Date(now).toISOString(),
    })
    .where('launch_id', '=', launchId)
    .where('target', '=', target)
    .execute();
}

/** Returns the owner of a draft. An empty draft has no owner, so that it hides no other draft of its user. */
const ownerOf = (draft: Draft, { ownerKey }: DraftPlace) => (hasContent(draft) ? (ownerKey ?? null) : null);

async function forgetOld(tx: OrderingTransaction, now: number): Promise<void> {
  await tx
    .deleteFrom('drafts')
    .where('updated_at', '<', new Date(now - retentionMs))
    .execute();
}

/** Returns the draft in a row. Members that an older release did not store have their initial values. */
export function toDraft({ submission_id, version, content }: Selectable<OrderingTables['drafts']>): Draft {
  return { ...emptyDraft(submission_id), ...content, version };
}
