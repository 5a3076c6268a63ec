import { discardDraft } from '../work/discard-draft.ts';
import type { ChoosingHandler } from './choosing-visit.ts';
import { readLaunchForm } from './visit.ts';

/** Discards what was continued or chosen, and begins with an empty request: `POST …/new-request`. */
export const postNewRequest: ChoosingHandler = async (visit, dependencies) => {
  await readLaunchForm(visit);
  await discardDraft(dependencies, visit);
  visit.response.redirect(303, visit.base);
};
