import { applyChoice } from '../domain/choice.ts';
import { fullName } from '../domain/person-name.ts';
import { type ReviewEntry, withEntry } from '../domain/review-entry.ts';
import { lockDraft, storeDraft } from '../store/drafts.ts';
import type { WorkDependencies } from './dependencies.ts';
import type { Choosing, Launch } from './launch.ts';

type KeptReview = {
  readonly entry: ReviewEntry;
  /** The code of a test to remove from the draft. */
  readonly remove?: string;
};

/** Stores the typed fields of the review, without submitting it. */
export async function keepReview(
  { database, clock, timeZone }: Pick<WorkDependencies, 'database' | 'clock' | 'timeZone'>,
  { context, catalogue, place, beginning }: Pick<Launch, 'context'> & Choosing,
  { entry, remove }: KeptReview,
): Promise<void> {
  const now = clock.now();
  const author = fullName(context.request.author.name);
  await database.transaction().execute(async (tx) => {
    const kept = await lockDraft(tx, place, { beginning, now });
    const typed = withEntry(kept, entry, { author, now, timeZone });
    const draft =
      remove === undefined
        ? typed
        : applyChoice(typed, { action: { kind: 'remove', code: remove }, ticked: [], was: [] }, catalogue);
    await storeDraft(tx, place, { draft, now });
  });
}
