import { type Selectable, sql } from 'kysely';
import { type Draft, type DraftPlace, emptyDraft, type LeftDraft } from '../domain/draft.ts';
import { jsonb, type OrderingDatabase, type OrderingTables, type OrderingTransaction } from './database.ts';

/** Milliseconds that the draft of an abandoned launch is stored; sessions end long before. */
const keptForMs = 7 * 86_400_000;

/** Finds the draft at a place; undefined if there is none yet. */
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

/** Milliseconds after its last change that a draft is found again in another launch. */
const foundAgainForMs = 86_400_000;

/**
 * Finds the draft that its owner left behind in an earlier launch: the one changed last. Undefined if this
 * launch has a draft, or if the owner has submitted a request since that change.
 */
export async function findLeftDraft(
  database: OrderingDatabase,
  { launchId, target, ownerKey }: DraftPlace,
  now: number,
): Promise<LeftDraft | undefined> {
  if (ownerKey === undefined) return undefined;
  const since = new Date(now - foundAgainForMs);
  const row = await database
    .selectFrom('drafts')
    .selectAll()
    .where('owner_key', '=', ownerKey)
    .where('updated_at', '>', since)
    .where((by) =>
      by.not(
        by.exists(
          by
            .selectFrom('drafts as own')
            .select('own.launch_id')
            .where('own.launch_id', '=', launchId)
            .where('own.target', '=', target),
        ),
      ),
    )
    .where('updated_at', '>', (by) =>
      by.fn.coalesce(
        // A submission stores the draft and the request at the same instant.
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
  return row && { draft: toDraft(row), changedAt: row.updated_at.toISOString() };
}

type Beginning = {
  /** The draft to store if there is none yet. */
  readonly beginning: Draft;
  /** Milliseconds since 1970-01-01T00:00:00Z */
  readonly now: number;
};

/**
 * Returns the draft at a place and locks it until the end of this transaction: of two concurrent changes, the
 * second sees the first.
 */
export async function lockDraft(
  tx: OrderingTransaction,
  { launchId, target, ownerKey }: DraftPlace,
  { beginning, now }: Beginning,
): Promise<Draft> {
  const { submissionId, version, ...content } = beginning;
  const made = await tx
    .insertInto('drafts')
    .values({
      launch_id: launchId,
      target,
      owner_key: ownerKey ?? null,
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
  { launchId, target, ownerKey }: DraftPlace,
  { draft, now }: { draft: Draft; now: number },
): Promise<void> {
  const { submissionId, version, ...content } = draft;
  await tx
    .updateTable('drafts')
    .set({
      owner_key: ownerKey ?? null,
      submission_id: submissionId,
      version,
      content: jsonb(content),
      updated_at: new Date(now).toISOString(),
    })
    .where('launch_id', '=', launchId)
    .where('target', '=', target)
    .execute();
}

async function forgetOld(tx: OrderingTransaction, now: number): Promise<void> {
  await tx
    .deleteFrom('drafts')
    .where('updated_at', '<', new Date(now - keptForMs))
    .execute();
}

/** A draft of an older release lacks newer members. */
function toDraft({ submission_id, version, content }: Selectable<OrderingTables['drafts']>): Draft {
  return { ...emptyDraft(submission_id), ...content, version };
}
