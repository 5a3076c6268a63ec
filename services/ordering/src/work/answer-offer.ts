import { continueDraft, hasContent } from '../domain/draft.ts';
import { lockDraft, storeDraft } from '../store/drafts.ts';
import { forgetLeftDrafts, lockLeftDraft } from '../store/left-drafts.ts';
import type { WorkDependencies } from './dependencies.ts';
import type { Choosing } from './launch.ts';

type OfferAnswer = {
  readonly answer: 'continue' | 'discard';
  /** When the draft was last changed that the page offered. ISO 8601 */
  readonly changedAt: string;
};

export type OfferOutcome =
  /** Done now, or by an earlier form. */
  | 'done'
  /** What the page offered was changed, submitted or discarded since, or is too old. Nothing was changed. */
  | 'gone'
  /** Tests were chosen in this launch since, so that it continues no other. Nothing was changed. */
  | 'chosen';

/**
 * Continues in this launch what the user left behind in an earlier one, or discards it. Either way, no later
 * launch is offered the drafts of the earlier launches.
 */
export function answerOffer(
  { database }: Pick<WorkDependencies, 'database'>,
  { place, beginning, now }: Choosing,
  { answer, changedAt }: OfferAnswer,
): Promise<OfferOutcome> {
  return database.transaction().execute(async (tx): Promise<OfferOutcome> => {
    const left = await lockLeftDraft(tx, place, now);
    const own = await lockDraft(tx, place, { beginning, now });
    const isDone = answer === 'continue' ? own.restoredFrom === changedAt : own.hasDeclined;
    if (isDone) return 'done';
    if (answer === 'continue' && hasContent(own)) return 'chosen';
    if (left?.changedAt !== changedAt) return 'gone';
    await forgetLeftDrafts(tx, place, now);
    const draft = answer === 'continue' ? continueDraft(own, left) : { ...own, hasDeclined: true as const };
    await storeDraft(tx, place, { draft, now });
    return 'done';
  });
}
