import { applyChoice, type ChoiceAction } from '../domain/choice.ts';
import type { Draft } from '../domain/draft.ts';
import { fullName } from '../domain/person-name.ts';
import { type ReviewEntry, withEntry } from '../domain/review-entry.ts';
import type { OrderingTransaction } from '../store/database.ts';
import { lockDraft, storeDraft } from '../store/drafts.ts';
import type { WorkDependencies } from './dependencies.ts';
import type { Choosing } from './launch.ts';
import { servedBy } from './select-tests.ts';

/** A button of the review that removes tests. */
type RemovingButton =
  | { readonly kind: 'remove'; readonly code: string }
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
    const action = button && (await actionOf(tx, button, choosing, typed));
    const draft =
      action === undefined ? typed : applyChoice(typed, { action, ticked: [], was: [] }, catalogue);
    await storeDraft(tx, place, { draft, now });
    return draft;
  });
}

async function actionOf(
  tx: OrderingTransaction,
  button: RemovingButton,
  choosing: Choosing,
  draft: Draft,
): Promise<ChoiceAction> {
  if (button.kind === 'remove') return button;
  const { orderReference } = button;
  return { kind: 'use', orderReference, codes: await servedBy(tx, choosing, { draft, orderReference }) };
}
