import { applyChoice, type Choice } from '../domain/choice.ts';
import type { Draft } from '../domain/draft.ts';
import { fullName } from '../domain/person-name.ts';
import { type ReviewEntry, withEntry } from '../domain/review-entry.ts';
import type { OrderingTransaction } from '../store/database.ts';
import { lockDraft, storeDraft } from '../store/drafts.ts';
import type { Choosing, WorkDependencies } from './launch.ts';
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
