import { redirect } from '@clinical-launch/http/answer';
import { behind, type Handler } from '@clinical-launch/http/endpoint';
import { requestPage } from '../present/addresses.ts';
import { findNamedRequest } from '../work/find-requests.ts';
import type { Dependencies } from './dependencies.ts';
import { ofNewOrder } from './page-guards.ts';
import { showChoice } from './tests-page.ts';
import type { Visit } from './visit.ts';

/**
 * Shows the tests to choose, or redirects to the first page of an action that begins with a request or a
 * list: `GET /oltr/{launchId}/`.
 */
export function openLaunch(dependencies: Dependencies): Handler<Visit> {
  const showNewOrder = behind(ofNewOrder(dependencies), showChoice(dependencies));
  return async (visit) => {
    const { response, home, rule, context } = visit;
    if (rule.opens === 'new-order') return showNewOrder(visit);
    if (rule.opens === 'list') return redirect(response, `${home}requests`);
    const named = await findNamedRequest(dependencies, context);
    // If the originating id is unknown, the user chooses among the patient's requests.
    redirect(response, named === undefined ? `${home}requests?choose` : requestPage(home, rule, named));
  };
}
