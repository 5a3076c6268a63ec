import { randomUUID } from 'node:crypto';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { appendToOutbox } from '@clinical-launch/storage/sql-outbox';
import { changeTests, newLocations } from '../domain/change-tests.ts';
import { draftOf, rebase } from '../domain/draft.ts';
import { fullName } from '../domain/person-name.ts';
import { type ReviewForm, withEntry } from '../domain/review-entry.ts';
import { withReasons } from '../domain/selection.ts';
import { draftIdOf, submissionIdOf } from '../domain/submission-id.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { isFromChosen, type SentWindow } from '../store/browsers.ts';
import { lockDraft, storeDraft } from '../store/drafts.ts';
import { visibilityOf } from '../store/keys.ts';
import { insertSubmission, isSubmitted, takeBatchNumbers } from '../store/submissions.ts';
import { lockRequest, updateRequest } from '../store/test-requests.ts';
import type { Choosing, Launch, WorkDependencies } from './launch.ts';
import { decideSubmission } from './select-tests.ts';
import { submittedEvent } from './submitted-event.ts';

export type ChangeOutcome =
  /** The change was stored, now or when the same form was sent before. */
  | { readonly outcome: 'submitted' }
  /** Other tests were chosen since the page was created. Only the typed fields were stored. */
  | { readonly outcome: 'changed' }
  /** The typed fields are invalid. Only the draft was stored, so that the user can correct the fields. */
  | { readonly outcome: 'faulty' }
  /** The form was not sent from the chosen window of its browser. Only the typed fields were stored. */
  | { readonly outcome: 'locked' }
  /** Another user changed the request. The draft was merged with the latest version. */
  | { readonly outcome: 'conflict' }
  /** The request is Complete, and so immutable (OLTR: Request status). */
  | { readonly outcome: 'complete'; readonly current: TestRequest }
  /** The request does not exist, or this launch cannot see it. */
  | { readonly outcome: 'absent' };

/** Submits a change to a request, exactly as the review page showed it. */
export function submitChange(
  { database, sealer }: WorkDependencies,
  launch: Launch & Choosing & { readonly changed: TestRequest; readonly sentFrom: SentWindow },
  form: ReviewForm,
): Promise<ChangeOutcome> {
  const { context, catalogue, place, beginning, changed, now, timeZone } = launch;
  const { launchId } = context;
  const { guid } = changed;
  const at = new Date(now).toISOString();
  return database.transaction().execute(async (tx): Promise<ChangeOutcome> => {
    const stored = await lockDraft(tx, place, { beginning, now });
    // Locks the request. Of two concurrent amendments, the second waits and then reads the first.
    const current = await lockRequest(tx, guid, visibilityOf(context));
    if (current === undefined) return { outcome: 'absent' };
    const draftId = form.draftId ?? stored.submissionId;
    // The id depends on the draft, too, because a form of the next draft may have the same fields.
    const id = submissionIdOf({ launchId, guid, sent: `${draftId} ${form.sent}` });
    if (await isSubmitted(tx, { id, guid, launchId })) return { outcome: 'submitted' };
    if (current.status === 'Complete') return { outcome: 'complete', current };

    const author = fullName(context.request.author.name);
    const draft = withEntry(stored, form.entry, { author, now, timeZone });
    const isConflict = current.version !== draft.base?.version;
    await storeDraft(tx, place, { draft: isConflict ? rebase(draft, current, catalogue) : draft, now });
    if (!(await isFromChosen(tx, context, launch.sentFrom))) return { outcome: 'locked' };
    if (isConflict) return { outcome: 'conflict' };
    if (draftId !== draft.submissionId || form.version !== String(draft.version))
      return { outcome: 'changed' };

    const { selection, review } = await decideSubmission(tx, launch, draft);
    if ('faults' in review) return { outcome: 'faulty' };

    const { details, cancelReason } = review.decision;
    const add = withReasons(selection, review.decision);
    const batchNumbers = await takeBatchNumbers(tx, newLocations(current.batches, add).length);
    const change = { add, remove: selection.removed, now: at, batchNumbers, newGuid: randomUUID };
    const request = {
      // A cancelled request keeps its details.
      ...changeTests(cancelReason === undefined ? { ...current, ...details } : current, change),
      version: current.version + 1,
    };
    await updateRequest(tx, request, timeZone);
    await insertSubmission(tx, { id, request, context, ...withoutUndefined({ reason: cancelReason }) });
    // The next change of this launch starts with the stored request.
    await storeDraft(tx, place, { draft: draftOf(request, draftIdOf(launchId, request)), now });
    await appendToOutbox(tx, [submittedEvent(request, launch, { sealer, step: 'change' })]);
    return { outcome: 'submitted' };
  });
}
