import type { Draft } from '../domain/draft.ts';
import { decideReview, type ReviewOutcome } from '../domain/review.ts';
import type { Selection } from '../domain/selection.ts';
import type { OrderingTransaction } from '../store/database.ts';
import type { Choosing } from './launch.ts';
import { selectAndLock } from './select-tests.ts';

/**
 * Decides whether a draft may be submitted, and what is then stored. Until the transaction ends, no other
 * submission adds to the patient's requests that were checked.
 */
export async function decideSubmission(
  tx: OrderingTransaction,
  choosing: Choosing,
  draft: Draft,
): Promise<{ readonly selection: Selection; readonly review: ReviewOutcome }> {
  const { patient, now, timeZone } = choosing;
  const { selection, repeats } = await selectAndLock(tx, choosing, draft);
  return { selection, review: decideReview({ draft, ...selection, patient, repeats, now, timeZone }) };
}
