import { guidForm, queryOf } from '@clinical-launch/service/http';
import { applyChoice } from '../domain/choice.ts';
import { chosenTests, type Draft } from '../domain/draft.ts';
import { fullName } from '../domain/person-name.ts';
import type { ReviewFault } from '../domain/review.ts';
import { faultyForm } from '../errors.ts';
import { presentReview } from '../present/review-model.ts';
import type { WriteTime } from '../present/written-time.ts';
import {
  type Reviewed,
  reviewOf,
  type SubmitNeeds,
  submitChange,
  submitOrder,
} from '../work/submit-review.ts';
import type { ChoosingHandler } from './choose-tests.ts';
import type { ChoosingVisit } from './choosing-visit.ts';
import { isRead } from './reading.ts';
import { readReviewAction, withTyped } from './review-form.ts';
import type { Show } from './show.ts';
import { readLaunchForm } from './visit.ts';

type ReviewNeeds = SubmitNeeds & { readonly show: Show; readonly write: WriteTime };

/**
 * `GET …/review`: what is about to be ordered or changed, and what is asked beside it. Why it was not submitted:
 * `?check`, what was typed will not do; `?changed`, other tests were chosen elsewhere; `?conflict`, somebody else
 * changed the request.
 */
export function showReview(needs: ReviewNeeds): ChoosingHandler {
  return async (visit) => {
    const { catalogue, drafts, show } = needs;
    // Kept from here on, so that the form of this page names a submission that is known.
    const draft = isRead(visit)
      ? await drafts.change(visit.place, (kept) => kept, visit.begin)
      : await drafts.find(visit.place, visit.begin);
    if (visit.changed === undefined && chosenTests(draft, catalogue).length === 0) {
      return visit.response.redirect(303, `${visit.base}?nothing-chosen`);
    }
    const flags = queryOf(visit.request);
    const review = flags.has('check') ? await reviewOf(visit, draft, needs) : undefined;
    const faults: readonly ReviewFault[] = review !== undefined && 'faults' in review ? review.faults : [];
    show(visit, 'review.njk', {
      ...(visit.changed === undefined ? {} : { about: visit.changed }),
      ...(await presentReview(visit, { draft, faults, needs })),
      isChanged: flags.has('changed'),
      isConflict: flags.has('conflict'),
    });
  };
}

/**
 * `POST …/review`: the submission of exactly what the page showed; or less of it, or back to the catalogue. What was
 * typed is kept.
 */
export function postReview(needs: ReviewNeeds): ChoosingHandler {
  return async (visit) => {
    const { response, base, place, begin } = visit;
    const { catalogue, drafts } = needs;
    const form = await readLaunchForm(visit);
    const action = readReviewAction(form.get('action'));
    const typed = (draft: Draft) => withTyped(draft, form, typingOf(visit, needs));
    const remove = action.kind === 'remove' ? { action, ticked: [], was: [] } : undefined;
    const draft = await drafts.change(
      place,
      (kept) => (remove === undefined ? typed(kept) : applyChoice(typed(kept), remove, catalogue)),
      begin,
    );
    switch (action.kind) {
      case 'back':
        return response.redirect(303, base);
      case 'remove':
        return response.redirect(303, `${base}review`);
      case 'check':
        return response.redirect(303, `${base}review?check`);
      case 'submit': {
        const next = await submit(visit, needs, {
          version: form.get('version'),
          draftId: readSubmissionId(form) ?? draft.submissionId,
          sent: form.toString(),
          withTyped: typed,
        });
        needs.nudge();
        response.redirect(303, next);
      }
    }
  };
}

const typingOf = ({ context }: ChoosingVisit, { catalogue, clock, timeZone }: ReviewNeeds) => ({
  catalogue,
  author: fullName(context.request.author.name),
  now: clock.now(),
  timeZone,
});

/** @throws ServiceError 400 for one that no page of ours has. */
function readSubmissionId(form: URLSearchParams): string | undefined {
  const id = form.get('submission');
  if (id !== null && !guidForm.test(id)) throw faultyForm();
  return id ?? undefined;
}

function submit(visit: ChoosingVisit, needs: ReviewNeeds, reviewed: Reviewed): Promise<string> {
  const { changed } = visit;
  return changed === undefined
    ? submitOrder(visit, needs, reviewed)
    : submitChange({ ...visit, changed }, needs, reviewed);
}
