import { type Selectable, sql } from 'kysely';
import { type Draft, type DraftPlace, emptyDraft, hasContent, type OfferedDraft } from '../domain/draft.ts';
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
  if (made !== undefined) {
    const until = new Date(now - retentionMs);
    await tx.deleteFrom('drafts').where('updated_at', '<', until).execute();
  }
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

/** Returns the draft in a row. Members that an older release did not store have their initial values. */
function toDraft({ submission_id, version, content }: Selectable<OrderingTables['drafts']>): Draft {
  return { ...emptyDraft(submission_id), ...content, version };
}

/** A draft is offered to another launch for this time after its last change. */
const offeredForMs = 86_400_000;

const offeredSince = (now: number) => new Date(now - offeredForMs);

/**
 * Finds the owner's most recently changed draft of another launch, if the change is at most 24 hours old.
 * Returns undefined if the owner has submitted an order since that change.
 */
export async function findOfferedDraft(
  database: OrderingDatabase,
  { launchId, ownerKey }: DraftPlace,
  now: number,
): Promise<OfferedDraft | undefined> {
  if (ownerKey === undefined) return undefined;
  const since = offeredSince(now);
  const row = await database
    .selectFrom('drafts')
    .selectAll()
    .where('owner_key', '=', ownerKey)
    .where('launch_id', '!=', launchId)
    .where('updated_at', '>', since)
    .where('updated_at', '>', (by) =>
      by.fn.coalesce(
        // The `updated_at` of a submitted draft is the time of the submission. Older drafts are not offered.
        by
          .selectFrom('drafts as submitted')
          .innerJoin('test_requests', 'test_requests.launch_id', 'submitted.launch_id')
          .select('submitted.updated_at')
          .where('submitted.owner_key', '=', ownerKey)
          .where('submitted.updated_at', '>', since)
          .orderBy('submitted.updated_at', 'desc')
          .limit(1),
        sql<Date>`'-infinity'::timestamptz`,
      ),
    )
    .orderBy('updated_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { draft: toDraft(row), changedAt: row.updated_at.toISOString() };
}

/**
 * Finds the draft as `findOfferedDraft` does, and locks it until the end of the transaction. Call this before
 * `lockDraft` to avoid a deadlock. Transactions that lock several drafts of one owner then run one after the
 * other. Every other transaction locks only its own draft.
 */
export async function lockOfferedDraft(
  tx: OrderingTransaction,
  place: DraftPlace,
  now: number,
): Promise<OfferedDraft | undefined> {
  const { launchId, ownerKey } = place;
  if (ownerKey === undefined) return undefined;
  await sql`select pg_advisory_xact_lock(hashtextextended(${ownerKey}, 3))`.execute(tx);
  // If this query waits for a submission, the next query finds that submission.
  await tx
    .selectFrom('drafts')
    .select('launch_id')
    .where('owner_key', '=', ownerKey)
    .where('launch_id', '!=', launchId)
    .where('updated_at', '>', offeredSince(now))
    .forUpdate()
    .execute();
  return findOfferedDraft(tx, place, now);
}

/**
 * Hides the drafts of the owner's other launches from later launches. This transaction must have locked those
 * drafts. If a window that still shows a hidden draft changes that draft, later launches find it again. Does
 * not change submitted drafts.
 */
export async function hideOfferedDrafts(
  tx: OrderingTransaction,
  { launchId, ownerKey }: DraftPlace,
  now: number,
): Promise<void> {
  if (ownerKey === undefined) return;
  await tx
    .updateTable('drafts')
    .set({ owner_key: null })
    .where('owner_key', '=', ownerKey)
    .where('launch_id', '!=', launchId)
    .where('updated_at', '>', offeredSince(now))
    .where((by) =>
      by.not(
        by.exists(
          by
            .selectFrom('test_requests')
            .select('test_requests.guid')
            .whereRef('test_requests.launch_id', '=', 'drafts.launch_id'),
        ),
      ),
    )
    .execute();
}
