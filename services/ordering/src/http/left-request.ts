import { redirect } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import { faultyForm } from '../errors.ts';
import { answerOffer, type OfferOutcome } from '../work/answer-offer.ts';
import { discardDraft } from '../work/discard-draft.ts';
import type { Dependencies } from './dependencies.ts';
import { type ChoosingVisit, readLaunchForm } from './visit.ts';

const nextPages: Readonly<Record<OfferOutcome, string>> = {
  done: '',
  gone: '?offer-gone',
  chosen: '?tests-chosen',
};

/**
 * Continues or discards the offered draft of an earlier launch: `POST …/left-request`.
 * @throws ServiceError 400 for a button that no page contains
 */
export function postOfferedDraft(dependencies: Dependencies): Handler<ChoosingVisit> {
  return async (visit) => {
    const form = await readLaunchForm(visit);
    const answer = form.get('action');
    if (answer !== 'continue' && answer !== 'discard') throw faultyForm();
    const changedAt = form.get('changed-at') ?? '';
    const outcome = await answerOffer(dependencies, visit, { answer, changedAt });
    redirect(visit.response, `${visit.base}${nextPages[outcome]}`);
  };
}

/** Discards the draft and starts a new request: `POST …/new-request`. */
export function postNewRequest(dependencies: Dependencies): Handler<ChoosingVisit> {
  return async (visit) => {
    await readLaunchForm(visit);
    await discardDraft(dependencies, visit);
    redirect(visit.response, visit.base);
  };
}
