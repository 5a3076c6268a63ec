import { traitsOf } from '../domain/applies-to.ts';
import type { Draft } from '../domain/draft.ts';
import { decideReview, type ReviewOutcome } from '../domain/review.ts';
import { type Selection, selectionOf } from '../domain/selection.ts';
import type { OrderingTransaction } from '../store/database.ts';
import { lockRepeatsAmong, type RepeatsBasis } from './find-repeats.ts';
import { patientOf } from './launch.ts';

/**
 * Decides whether a draft may be submitted, and what is then stored. Until the transaction ends, no other
 * submission adds to the patient's requests that were checked.
 */
export async function decideSubmission(
  tx: OrderingTransaction,
  draft: Draft,
  basis: Omit<RepeatsBasis, 'tests'>,
): Promise<{ readonly selection: Selection; readonly review: ReviewOutcome }> {
  const { catalogue, now, timeZone } = basis;
  const selection = selectionOf(draft, catalogue);
  const patient = traitsOf(patientOf(basis), { now, timeZone });
  const repeats = await lockRepeatsAmong(tx, { ...basis, tests: selection.addedTests });
  return { selection, review: decideReview({ draft, ...selection, patient, repeats, now, timeZone }) };
}
