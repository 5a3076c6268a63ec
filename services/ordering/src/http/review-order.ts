import { randomUUID } from 'node:crypto';
import { createEvent, type Sealer } from '@clinical-launch/contracts';
import { type Clock, callOf, readForm } from '@clinical-launch/service';
import type { Catalogue } from '../domain/catalogue.ts';
import { planBatches } from '../domain/collection.ts';
import { chosenTests, cleanText, type Draft, maxClinicalDetailsLength } from '../domain/draft.ts';
import { createTestRequest, type TestRequest, toOrder } from '../domain/test-request.ts';
import { faultyForm } from '../errors.ts';
import type { Drafts } from '../store/drafts.ts';
import type { MakeSubmission, TestRequests } from '../store/test-requests.ts';
import { presentChosen } from './choose-tests.ts';
import type { Show } from './show.ts';
import type { Visit, VisitHandler } from './visit.ts';

type ReviewNeeds = {
  readonly catalogue: Catalogue;
  readonly drafts: Drafts;
  readonly testRequests: TestRequests;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly show: Show;
  /** Says that an event waits in the outbox. */
  readonly nudge: () => void;
};

/** `GET /oltr/{launchId}/review`: what is about to be ordered; `?changed` says that it was changed elsewhere. */
export function showReview({ drafts, catalogue, show }: ReviewNeeds): VisitHandler {
  return async (visit) => {
    const draft = await drafts.find(visit.launchId);
    if (chosenTests(draft, catalogue).length === 0) {
      return visit.response.redirect(303, `${visit.home}?nothing-chosen`);
    }
    show(visit, 'review.njk', {
      ...presentChosen(draft, catalogue),
      draft,
      maxClinicalDetailsLength,
      isTooLong: draft.clinicalDetails.length > maxClinicalDetailsLength,
      isChanged: visit.request.originalUrl.endsWith('?changed'),
    });
  };
}

/** `POST /oltr/{launchId}/review`: back to the catalogue, or the submission of exactly what the page showed. */
export function postReview(needs: ReviewNeeds): VisitHandler {
  return async (visit) => {
    const { request, response, home, launchId } = visit;
    const form = await readForm(request, response);
    const clinicalDetails = cleanText(form.get('details') ?? '');
    const action = form.get('action');
    if (action !== 'back' && action !== 'submit') throw faultyForm();
    await needs.drafts.change(launchId, (draft) => ({ ...draft, clinicalDetails }));
    if (action === 'back') return response.redirect(303, home);

    const submitted = await needs.testRequests.submit(
      launchId,
      submission(visit, needs, form.get('version')),
    );
    needs.nudge();
    response.redirect(303, submitted === undefined ? `${home}review?changed` : resultPage(home, submitted));
  };
}

/** Where a submitted request is shown. */
export const resultPage = (home: string, { guid }: Pick<TestRequest, 'guid'>) => `${home}orders/${guid}`;

function submission(
  { context, response }: Visit,
  { catalogue, sealer, clock }: ReviewNeeds,
  reviewedVersion: string | null,
): MakeSubmission {
  return async (draft: Draft, takeBatchNumbers) => {
    const plan = planBatches(chosenTests(draft, catalogue), catalogue);
    const isAsReviewed = reviewedVersion === String(draft.version);
    const isTooLong = draft.clinicalDetails.length > maxClinicalDetailsLength;
    if (!isAsReviewed || isTooLong || plan.length === 0) return undefined;
    const request = createTestRequest({
      guid: draft.orderGuid,
      context,
      plan,
      clinicalDetails: draft.clinicalDetails,
      now: new Date(clock.now()).toISOString(),
      batchNumbers: await takeBatchNumbers(plan.length),
      newGuid: randomUUID,
    });
    const event = createEvent('order.submitted.v1', callOf(response).origin('/ordering'), {
      orderGuid: request.guid,
      launchId: request.launchId,
      issuer: request.client.issuer,
      clientId: request.client.clientId,
      batches: request.batches.length,
      tests: request.batches.reduce((count, { tests }) => count + tests.length, 0),
      sealed: sealer.seal('order.submitted.v1', { order: toOrder(request) }),
    });
    return { request, events: [event] };
  };
}
