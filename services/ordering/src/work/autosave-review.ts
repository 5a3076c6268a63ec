import type { PageSave } from '../domain/draft.ts';
import { fullName } from '../domain/person-name.ts';
import { judgeSave, type ReviewForm, withEntry } from '../domain/review-entry.ts';
import { lockDraft, storeDraft } from '../store/drafts.ts';
import { findOrderOf } from '../store/test-requests.ts';
import type { Choosing, WorkDependencies } from './launch.ts';

/** The fields that the review page sends while the user types. */
export type ReviewSave = Pick<ReviewForm, 'entry' | 'draftId'> & { readonly save: PageSave };

export type SaveOutcome =
  /** The draft contains these fields, or newer fields of the same page. */
  | 'saved'
  /** Another page stored other fields, or the draft was submitted. Nothing was stored. */
  | 'superseded';

/** Stores the typed fields of the review, unless newer fields are stored or the draft was submitted. */
export function autosaveReview(
  { database }: Pick<WorkDependencies, 'database'>,
  { context, place, beginning, changed, now, timeZone }: Choosing,
  { entry, draftId, save }: ReviewSave,
): Promise<SaveOutcome> {
  const author = fullName(context.request.author.name);
  return database.transaction().execute(async (tx): Promise<SaveOutcome> => {
    const stored = await lockDraft(tx, place, { beginning, now });
    // A new order is submitted once. After the submission of a change, the draft has a new id.
    const isSubmitted =
      changed === undefined
        ? (await findOrderOf(tx, context.launchId)) !== undefined
        : draftId !== stored.submissionId;
    if (isSubmitted) return 'superseded';
    switch (judgeSave(stored, save)) {
      case 'conflict':
        return 'superseded';
      case 'late':
        return 'saved';
      case 'next': {
        const { page, sequence } = save;
        const typed = withEntry(stored, entry, { author, now, timeZone });
        await storeDraft(tx, place, { draft: { ...typed, savedBy: { page, sequence } }, now });
        return 'saved';
      }
    }
  });
}
