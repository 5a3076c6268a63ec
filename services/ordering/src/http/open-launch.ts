import { requestPage } from '../present/addresses.ts';
import { findNamed } from '../store/test-requests.ts';
import type { VisitHandler } from './launch-door.ts';
import { ofNewOrder } from './page-doors.ts';
import { showChoice } from './tests-page.ts';

const showNewOrder = ofNewOrder(showChoice);

/**
 * Shows the tests to choose, or redirects to the first page of an action that begins with a request or a
 * list: `GET /oltr/{launchId}/`.
 */
export const openLaunch: VisitHandler = async (visit, dependencies) => {
  const { response, home, rule, context } = visit;
  if (rule.opens === 'new-order') return showNewOrder(visit, dependencies);
  if (rule.opens === 'list') return response.redirect(303, `${home}requests`);
  const named = await findNamed(dependencies.database, context);
  // With an unknown identifier, the user chooses among the patient's requests.
  response.redirect(303, named === undefined ? `${home}requests?choose` : requestPage(home, rule, named));
};
