import { randomUUID } from 'node:crypto';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { appendToOutbox } from '@clinical-launch/storage/sql-outbox';
import { changeTests, newLocations } from '../domain/change-tests.ts';
import { fullName } from '../domain/person-name.ts';
import { collectAsPlanned } from '../domain/record-samples.ts';
import { type ReviewForm, withEntry } from '../domain/review-entry.ts';
import { withReasons } from '../domain/selection.ts';
import { emptyTestRequest, type TestRequest } from '../domain/test-request.ts';
import { isFromChosen, type SentWindow } from '../store/browsers.ts';
import { lockDraft, storeDraft } from '../store/drafts.ts';
import { insertSubmission, takeBatchNumbers } from '../store/submissions.ts';
import { findOrderOf, insertRequest } from '../store/test-requests.ts';
import { countMostRequested } from './count-most-requested.ts';
import type { Choosing, Launch, WorkDependencies } from './launch.ts';
import { decideSubmission } from './select-tests.ts';
import { submittedEvent } from './submitted-event.ts';

export type OrderOutcome =
  /** The order was stored from this form or from an earlier form. A launch submits one order. */
  | { readonly outcome: 'submitted'; readonly request: TestRequest }
  /** Other tests, or no tests, were chosen since the page was created. Only the typed fields were stored. */
  | { readonly outcome: 'changed' }
  /** The typed fields are invalid. Only the draft was stored, so that the user can correct the fields. */
  | { readonly outcome: 'faulty' }
  /** The form was not sent from the chosen window of its browser. Only the typed fields were stored. */
  | { readonly outcome: 'locked' };

/** Submits a new order, exactly as the review page showed it. */
export function submitOrder(
  { database, sealer }: WorkDependencies,
  launch: Launch & Choosing & { readonly sentFrom: SentWindow },
  form: ReviewForm,
): Promise<OrderOutcome> {
  const { context, place, beginning, now, timeZone } = launch;
  const at = new Date(now).toISOString();
  return database.transaction().execute(async (tx): Promise<OrderOutcome> => {
    // Locks the draft. A second submission of this launch waits here, and then finds the first order.
    const stored = await lockDraft(tx, place, { beginning, now });
    const submitted = await findOrderOf(tx, context.launchId);
    if (submitted !== undefined) return { outcome: 'submitted', request: submitted };

    const author = fullName(context.request.author.name);
    const draft = withEntry(stored, form.entry, { author, now, timeZone });
    await storeDraft(tx, place, { draft, now });
    if (!(await isFromChosen(tx, context, launch.sentFrom))) return { outcome: 'locked' };
    if (form.version !== String(draft.version)) return { outcome: 'changed' };

    const { selection, review } = await decideSubmission(tx, launch, draft);
    if ('faults' in review) return { outcome: 'faulty' };
    if (selection.added.length === 0) return { outcome: 'changed' };

    const { details, collected } = review.decision;
    const add = withReasons(selection, review.decision);
    const batchNumbers = await takeBatchNumbers(tx, newLocations([], add).length);
    const empty = emptyTestRequest({ guid: draft.submissionId, context, details, now: at });
    const ordered = changeTests(empty, { add, remove: [], now: at, batchNumbers, newGuid: randomUUID });
    const request = collectAsPlanned(
      ordered,
      { plan: draft.collection, ...withoutUndefined({ collected }) },
      at,
    );
    await insertRequest(tx, request, timeZone);
    await insertSubmission(tx, { id: draft.submissionId, request, context });
    await countMostRequested(tx, context, now);
    await appendToOutbox(tx, [submittedEvent(request, launch, { sealer, step: 'order' })]);
    return { outcome: 'submitted', request };
  });
}
