import { applyChoice, type Choice } from '../domain/choice.ts';
import type { Draft, PageSave } from '../domain/draft.ts';
import { fullName } from '../domain/person-name.ts';
import { judgeSave, type ReviewEntry, type ReviewForm, withEntry } from '../domain/review-entry.ts';
import type { OrderingTransaction } from '../store/database.ts';
import { lockDraft, storeDraft } from '../store/drafts.ts';
import { findOrderOf } from '../store/test-requests.ts';
import type { WorkDependencies } from './dependencies.ts';
import type { Choosing } from './launch.ts';
import { servedBy } from './select-tests.ts';

type RemovingButton =
  | { readonly kind: 'remove'; readonly codes: readonly string[] }
  | { readonly kind: 'use'; readonly orderReference: string };

type ReviewInput = {
  readonly entry: ReviewEntry;
  /** The button that the user pressed, if the button removes tests. */
  readonly button?: RemovingButton;
};

/** Stores the typed fields of the review without a submission. Returns the stored draft. */
export async function storeReview(
  { database }: Pick<WorkDependencies, 'database'>,
  choosing: Choosing,
  { entry, button }: ReviewInput,
): Promise<Draft> {
  const { context, catalogue, place, beginning, now, timeZone } = choosing;
  const author = fullName(context.request.author.name);
  return database.transaction().execute(async (tx) => {
    const stored = await lockDraft(tx, place, { beginning, now });
    const typed = withEntry(stored, entry, { author, now, timeZone });
    const choice = button && (await choiceOf(tx, button, choosing, typed));
    const draft = choice === undefined ? typed : applyChoice(typed, choice, catalogue);
    await storeDraft(tx, place, { draft, now });
    return draft;
  });
}

async function choiceOf(
  tx: OrderingTransaction,
  button: RemovingButton,
  choosing: Choosing,
  draft: Draft,
): Promise<Choice> {
  if (button.kind === 'remove') return { action: { kind: 'update' }, ticked: [], was: button.codes };
  const { orderReference } = button;
  const codes = await servedBy(tx, choosing, { draft, orderReference });
  return { action: { kind: 'use', orderReference, codes }, ticked: [], was: [] };
}

/** The fields that the review page sends while the user types. */
export type ReviewSave = Pick<ReviewForm, 'entry' | 'draftId'> & { readonly save: PageSave };

type SaveOutcome =
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
