import { changeTests, newLocations } from '../domain/change-tests.ts';
import { chosenTests, type Draft, differenceOf, draftOf, rebase } from '../domain/draft.ts';
import { recordSamples, samplesOf } from '../domain/record-samples.ts';
import { type Decision, decideReview, type ReviewOutcome } from '../domain/review.ts';
import { emptyTestRequest, type TestRequest } from '../domain/test-request.ts';
import { requestComplete, requestNotFound } from '../errors.ts';
import type { ChoosingVisit } from '../http/choosing-visit.ts';
import type { Drafts } from '../store/drafts.ts';
import type { SubmissionWork } from '../store/submission-work.ts';
import type { TestRequests } from '../store/test-requests.ts';
import { type RepeatNeeds, repeatsAmong } from './find-repeats.ts';
import { eventsOf, resultPage, type SubmissionNeeds, stamp, submissionIdOf } from './submission.ts';

export type SubmitNeeds = SubmissionNeeds &
  RepeatNeeds & { readonly drafts: Drafts; readonly testRequests: TestRequests };

/** What the form says: the version that its page showed, and what was typed there. */
export type Reviewed = {
  readonly version: string | null;
  /** GUID of the draft that the page was made of. */
  readonly draftId: string;
  /** The fields of the form. */
  readonly sent: string;
  readonly withTyped: (draft: Draft) => Draft;
};

/** Whether the draft may be submitted as it is, and what is then stored. */
export async function reviewOf(
  visit: ChoosingVisit,
  draft: Draft,
  needs: RepeatNeeds,
): Promise<ReviewOutcome> {
  const { catalogue, clock, timeZone } = needs;
  const tests = chosenTests(draft, catalogue);
  const { added, removed } = differenceOf(draft, catalogue);
  const addedTests = tests.filter(({ code }) => added.includes(code));
  const repeats = await repeatsAmong(addedTests, visit, needs);
  return decideReview({ draft, tests, added, removed, repeats, now: clock.now(), timeZone });
}

/** Why nothing was stored: the page shows it again. */
type Refusal = 'changed' | 'check';

/** Submits a new order; the page to go on to. */
export async function submitOrder(
  visit: ChoosingVisit,
  needs: SubmitNeeds,
  reviewed: Reviewed,
): Promise<string> {
  const { context, base, home } = visit;
  let refusal: Refusal = 'changed';
  const submitted = await needs.testRequests.order({
    context,
    async make(kept, work) {
      const draft = reviewed.withTyped(kept);
      if (reviewed.version !== String(draft.version)) return undefined;
      const review = await reviewOf(visit, draft, { ...needs, findEarlier: work.findEarlier });
      if ('faults' in review) {
        refusal = 'check';
        return undefined;
      }
      const { now } = stamp(needs);
      const { decision } = review;
      const request = emptyTestRequest({ guid: draft.submissionId, context, details: decision.details, now });
      const ordered = await changed(request, { draft, decision, needs, work });
      return ordered.batches.length === 0 ? undefined : collected(ordered, decision);
    },
    eventsOf: eventsOf(visit, needs),
  });
  return submitted === undefined ? `${base}review?${refusal}` : resultPage(home, submitted);
}

/**
 * Submits the change of a request; the page to go on to.
 * @throws ServiceError 409 when the request was completed meanwhile, 404 when it is out of sight.
 */
export async function submitChange(
  visit: ChoosingVisit & { readonly changed: TestRequest },
  needs: SubmitNeeds,
  reviewed: Reviewed,
): Promise<string> {
  const { context, base, home, place, changed: seen } = visit;
  const { drafts, testRequests, catalogue } = needs;
  let refusal: Refusal = 'changed';
  const done = await testRequests.amend({
    context,
    guid: seen.guid,
    // Beside the draft, since a form without it may say the same of the next one.
    submissionId: submissionIdOf(visit, seen, `${reviewed.draftId} ${reviewed.sent}`),
    draft: { place, begin: draftOf, seen },
    async change(current, work, kept) {
      if (kept === undefined || kept.submissionId !== reviewed.draftId) return undefined;
      const draft = reviewed.withTyped(kept);
      if (reviewed.version !== String(draft.version)) return undefined;
      const review = await reviewOf(visit, draft, { ...needs, findEarlier: work.findEarlier });
      if ('faults' in review) {
        refusal = 'check';
        return undefined;
      }
      const { decision } = review;
      return changed({ ...current, ...decision.details }, { draft, decision, needs, work });
    },
    eventsOf: eventsOf(visit, needs),
  });
  switch (done.outcome) {
    case 'stored':
      return resultPage(home, seen);
    case 'conflict':
      await drafts.change(place, (draft) => rebase(draft, done.current, catalogue), visit.begin);
      return `${base}review?conflict`;
    case 'refused':
      return `${base}review?${refusal}`;
    case 'complete':
      throw requestComplete();
    case 'absent':
      throw requestNotFound();
  }
}

type Change = { draft: Draft; decision: Decision; needs: SubmitNeeds; work: SubmissionWork };

/** The request with what the draft adds to it and takes from it. */
async function changed(request: TestRequest, { draft, decision, needs, work }: Change): Promise<TestRequest> {
  const { added, removed } = differenceOf(draft, needs.catalogue);
  const add = chosenTests({ chosen: added }, needs.catalogue).map((test) => {
    const repeatReason = decision.repeatReasons[test.code];
    return repeatReason === undefined ? { test } : { test, repeatReason };
  });
  const batchNumbers = await work.takeBatchNumbers(newLocations(request.batches, add).length);
  return changeTests(request, { add, remove: removed, batchNumbers, ...stamp(needs) });
}

/** The order with all of its samples taken, when they were. */
function collected(request: TestRequest, { collected: taken }: Decision): TestRequest {
  if (taken === undefined) return request;
  const records = samplesOf(request).map(({ sample }) => ({
    sample: sample.id,
    collected: taken,
    quantity: 1,
  }));
  return recordSamples(request, records, request.updatedAt);
}
