import { continueDraft, hasContent } from '../domain/draft.ts';
import { lockDraft, storeDraft } from '../store/drafts.ts';
import { forgetLeftDrafts, lockLeftDraft } from '../store/left-drafts.ts';
import type { WorkDependencies } from './dependencies.ts';
import type { Choosing } from './launch.ts';

type OfferAnswer = {
  readonly answer: 'continue' | 'discard';
  /** When the offered draft was last changed. ISO 8601 instant */
  readonly changedAt: string;
};

export type OfferOutcome =
  /** Done now, or by an earlier form. */
  | 'done'
  /** The offered draft was changed, submitted or discarded since, or is too old. Nothing was changed. */
  | 'gone'
  /** Tests were chosen in this launch since, so it cannot continue another draft. Nothing was changed. */
  | 'chosen';

/**
 * Continues or discards the draft that the user left behind in an earlier launch. Either way, later launches
 * do not offer the drafts of earlier launches.
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
