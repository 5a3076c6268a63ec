import { redirect } from '@clinical-launch/http/answer';
import { behind, type Handler } from '@clinical-launch/http/endpoint';
import { requestPage } from '../present/addresses.ts';
import { findNamedRequest } from '../work/find-requests.ts';
import type { Dependencies } from './dependencies.ts';
import { ofNewOrder } from './page-guards.ts';
import { showChoice } from './tests-page.ts';
import type { Visit } from './visit.ts';
import { inChosenWindow } from './window.ts';

/**
 * Opens a launch: `GET /oltr/{launchId}/`. For OrderTest, shows the page for choosing tests. For other
 * actions, redirects to the request or to the list.
 */
export function openLaunch(dependencies: Dependencies): Handler<Visit> {
  const showNewOrder = behind(
    ofNewOrder(dependencies),
    behind(inChosenWindow(dependencies), showChoice(dependencies)),
  );
  return async (visit) => {
    const { response, home, rule, context } = visit;
    if (rule.opens === 'new-order') return showNewOrder(visit);
    if (rule.opens === 'list') return redirect(response, `${home}requests`);
    const named = await findNamedRequest(dependencies, context);
    // If the launch can see no request with its originating id, the user chooses a request in the list.
    redirect(response, named === undefined ? `${home}requests?choose` : requestPage(home, rule, named));
  };
}
