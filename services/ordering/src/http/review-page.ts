import { randomUUID } from 'node:crypto';
import { redirect, sendStatus } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import { cancels, decideReview, missingFields } from '../domain/review.ts';
import type { ReviewForm } from '../domain/review-entry.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { requestComplete, requestNotFound } from '../errors.ts';
import { resultPage } from '../present/addresses.ts';
import { presentReview } from '../present/review-model.ts';
import type { SentWindow } from '../store/browsers.ts';
import { autosaveReview } from '../work/autosave-review.ts';
import { findOthersUnderNumber, historyOf } from '../work/find-requests.ts';
import { readDraft } from '../work/read-choice.ts';
import { selectTests } from '../work/select-tests.ts';
import { storeReview } from '../work/store-review.ts';
import { submitChange } from '../work/submit-change.ts';
import { submitOrder } from '../work/submit-order.ts';
import type { Dependencies } from './dependencies.ts';
import { assertNotSpeculative } from './page-guards.ts';
import { readReviewForm, readReviewSave } from './review-form.ts';
import { type ChoosingVisit, readLaunchForm } from './visit.ts';
import { readSentWindow, refuseLocked, toPath } from './window.ts';

/**
 * Shows the order or change before the submission, and its questions: `GET …/review`. The query states why a
 * submission was refused. `?check`: a typed field is invalid. `?changed`: another window chose other tests.
 * `?conflict`: another user changed the request.
 */
export function showReview(dependencies: Dependencies): Handler<ChoosingVisit> {
  const { database, write, show } = dependencies;
  return async (visit) => {
    const { catalogue, changed, context, patient, now, timeZone } = visit;
    assertNotSpeculative(visit);
    const draft = await readDraft(dependencies, visit);
    const { selection, repeats } = await selectTests(database, visit, draft);
    if (changed === undefined && selection.tests.length === 0) {
      return redirect(visit.response, `${visit.base}?nothing-chosen`);
    }
    const flags = queryOf(visit.request);
    const judged = { draft, ...selection, patient, repeats, now, timeZone };
    const review = decideReview(judged);
    const open = 'faults' in review ? review.faults : [];
    const faults = flags.has('check') ? open : [];
    const after = draft.notice?.rebasedFrom;
    show(visit, cancels(draft) ? 'cancel.njk' : 'review.njk', {
      ...(changed === undefined ? { isNewRequest: true } : { about: changed }),
      otherBirths: await findOthersUnderNumber(dependencies, visit.context),
      ...presentReview({
        draft,
        selection,
        patient,
        repeats,
        changed,
        catalogue,
        now,
        timeZone,
        faults,
        missing: missingFields(open),
        author: context.request.author.name,
        // The submissions of other users since this change began.
        changedBy:
          changed === undefined || after === undefined
            ? []
            : await historyOf(dependencies, changed, { after }),
        write,
      }),
      isChanged: flags.has('changed'),
      isConflict: flags.has('conflict'),
      page: randomUUID(),
    });
  };
}

/**
 * Handles the buttons of the review: `POST …/review`. Stores the typed fields. Then submits exactly the
 * content of the page, removes tests, shows the errors, or returns to the page for choosing tests.
 */
export function postReview(dependencies: Dependencies): Handler<ChoosingVisit> {
  return async (visit) => {
    const { response, base, catalogue } = visit;
    const fields = await readLaunchForm(visit);
    const { action, ...form } = readReviewForm(fields, catalogue);
    const { entry } = form;
    switch (action.kind) {
      case 'back':
        await storeReview(dependencies, visit, { entry });
        return redirect(response, base);
      case 'check':
        await storeReview(dependencies, visit, { entry });
        return redirect(response, `${base}review?check`);
      case 'remove':
        await storeReview(dependencies, visit, { entry, button: action });
        return redirect(response, `${base}review`);
      case 'use': {
        const draft = await storeReview(dependencies, visit, { entry, button: action });
        // If no test remains, redirects to the page for choosing tests, which explains why.
        return redirect(response, draft.chosen.length === 0 ? base : `${base}review`);
      }
      case 'submit': {
        const { changed } = visit;
        const sending = { ...visit, sentFrom: readSentWindow(visit, fields, dependencies) };
        const next =
          changed === undefined
            ? await submitNewOrder(sending, dependencies, form)
            : await submitChangeOf({ ...sending, changed }, dependencies, form);
        dependencies.nudge();
        if (next === undefined) return refuseLocked(visit, dependencies, { to: toPath(visit) });
        redirect(response, toPrint(visit, next));
      }
    }
  };
}

/** Adds `?print` to the URL of the result page for “Submit and print”: `POST …/review?print`. */
const toPrint = ({ request, home }: ChoosingVisit, next: string) =>
  queryOf(request).has('print') && next.startsWith(`${home}orders/`) ? `${next}?print` : next;

/**
 * Stores the fields that a script sends while the user types: `POST …/review/draft`. Answers 204 if the
 * fields were stored, and 409 if another page stored other fields or the draft was submitted.
 */
export function postReviewDraft(dependencies: Dependencies): Handler<ChoosingVisit> {
  return async (visit) => {
    const form = readReviewSave(await readLaunchForm(visit), visit.catalogue);
    const outcome = await autosaveReview(dependencies, visit, form);
    sendStatus(visit.response, outcome === 'saved' ? 204 : 409);
  };
}

type SendingVisit = ChoosingVisit & { readonly sentFrom: SentWindow };

/** Submits a new order and returns the URL of the next page, or undefined if the window is locked. */
async function submitNewOrder(
  visit: SendingVisit,
  dependencies: Dependencies,
  form: ReviewForm,
): Promise<string | undefined> {
  const done = await submitOrder(dependencies, visit, form);
  switch (done.outcome) {
    case 'submitted':
      return resultPage(visit.home, done.request);
    case 'changed':
      return `${visit.base}review?changed`;
    case 'faulty':
      return `${visit.base}review?check`;
    case 'locked':
      return undefined;
  }
}

/**
 * Submits a change to a request and returns the URL of the next page, or undefined if the window is locked.
 * @throws ServiceError 409 if the request has become Complete, 404 if the launch can no longer see it
 */
async function submitChangeOf(
  visit: SendingVisit & { readonly changed: TestRequest },
  dependencies: Dependencies,
  form: ReviewForm,
): Promise<string | undefined> {
  const done = await submitChange(dependencies, visit, form);
  switch (done.outcome) {
    case 'submitted':
      return resultPage(visit.home, visit.changed);
    case 'changed':
      return `${visit.base}review?changed`;
    case 'faulty':
      return `${visit.base}review?check`;
    case 'conflict':
      return `${visit.base}review?conflict`;
    case 'locked':
      return undefined;
    case 'complete':
      throw requestComplete(done.current);
    case 'absent':
      throw requestNotFound();
  }
}
