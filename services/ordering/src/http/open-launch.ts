import { requestPage } from '../present/addresses.ts';
import type { OrderingDatabase } from '../store/database.ts';
import { findNamed } from '../store/test-requests.ts';
import type { VisitHandler } from './visit.ts';

/**
 * `GET /oltr/{launchId}/` of the actions that begin with a request or a list: leads to the page that the action is
 * for.
 */
export function openLaunch({ database }: { readonly database: OrderingDatabase }): VisitHandler {
  return async ({ response, home, rule, context }) => {
    if (rule.opens !== 'named-request') return response.redirect(303, `${home}requests`);
    const named = await findNamed(database, context);
    // With an identifier that was never seen the user chooses among the patient's requests.
    response.redirect(303, named === undefined ? `${home}requests?choose` : requestPage(home, rule, named));
  };
}
