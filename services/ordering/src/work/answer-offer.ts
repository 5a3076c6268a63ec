import { continueDraft, hasContent } from '../domain/draft.ts';
import { hideOfferedDrafts, lockDraft, lockOfferedDraft, storeDraft } from '../store/drafts.ts';
import type { Choosing, WorkDependencies } from './launch.ts';

type OfferAnswer = {
  readonly answer: 'continue' | 'discard';
  /** When the draft on the page was last changed, as an ISO 8601 instant. */
  readonly changedAt: string;
};

export type OfferOutcome =
  /** The draft was continued or discarded, now or when the same form was sent before. */
  | 'done'
  /**
   * The offered draft was changed, submitted or discarded since the page was created, or is too old. Nothing
   * was stored.
   */
  | 'gone'
  /**
   * The user has chosen tests in this launch since the page was created, so no draft can be continued.
   * Nothing was stored.
   */
  | 'chosen';

/**
 * Continues or discards the user's unsubmitted draft of an earlier launch. In both cases, later launches no
 * longer offer drafts of earlier launches.
 */
export function answerOffer(
  { database }: Pick<WorkDependencies, 'database'>,
  { place, beginning, now }: Choosing,
  { answer, changedAt }: OfferAnswer,
): Promise<OfferOutcome> {
  return database.transaction().execute(async (tx): Promise<OfferOutcome> => {
    const offered = await lockOfferedDraft(tx, place, now);
    const own = await lockDraft(tx, place, { beginning, now });
    const isDone = answer === 'continue' ? own.restoredFrom === changedAt : own.hasDeclined;
    if (isDone) return 'done';
    if (answer === 'continue' && hasContent(own)) return 'chosen';
    if (offered?.changedAt !== changedAt) return 'gone';
    await hideOfferedDrafts(tx, place, now);
    const draft =
      answer === 'continue' ? continueDraft(own, offered) : { ...own, hasDeclined: true as const };
    await storeDraft(tx, place, { draft, now });
    return 'done';
  });
}
