import { faultyForm } from '../errors.ts';
import { answerOffer, type OfferOutcome } from '../work/answer-offer.ts';
import type { ChoosingHandler } from './choosing-visit.ts';
import { readLaunchForm } from './visit.ts';

const nextPages: Readonly<Record<OfferOutcome, string>> = {
  done: '',
  gone: '?offer-gone',
  chosen: '?tests-chosen',
};

/**
 * Continues or discards the offered request of an earlier launch: `POST …/left-request`.
 * @throws ServiceError 400 for a button that no page of ours has
 */
export const postLeftRequest: ChoosingHandler = async (visit, dependencies) => {
  const form = await readLaunchForm(visit);
  const answer = form.get('action');
  if (answer !== 'continue' && answer !== 'discard') throw faultyForm();
  const changedAt = form.get('changed-at') ?? '';
  const outcome = await answerOffer(dependencies, visit, { answer, changedAt });
  visit.response.redirect(303, `${visit.base}${nextPages[outcome]}`);
};
