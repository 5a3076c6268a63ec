import { redirect, sendStatus, sendText } from '@clinical-launch/http/answer';
import { behind, type Handler } from '@clinical-launch/http/endpoint';
import { setCookie } from '@clinical-launch/pages/cookies';
import { launchSessionCookie, launchSessionCookieOptions } from '@clinical-launch/pages/launch-session';
import { requestPage } from '../present/addresses.ts';
import { findNamedRequest } from '../work/find-requests.ts';
import type { Dependencies } from './dependencies.ts';
import { ofNewOrder } from './page-guards.ts';
import { showChoice } from './tests-page.ts';
import { readLaunchForm, type Visit } from './visit.ts';
import { inChosenWindow } from './window.ts';

/**
 * Answers 204 to a page that extends the session: `POST /oltr/{launchId}/session`. The guard `inLaunch` has
 * already extended the session and its cookie, as it does for every HTTP request.
 */
export async function extendSession(visit: Visit): Promise<void> {
  await readLaunchForm(visit);
  sendStatus(visit.response, 204);
}

/**
 * Answers 204 to a page that asks whether the session is live: `GET /oltr/{launchId}/session-state`. The guard
 * `inLaunch` has found the session, without extending it.
 */
export const confirmSession = ({ response }: Visit): void => sendStatus(response, 204);

/**
 * Signs the user out: `POST /oltr/{launchId}/sign-out`. Ends the session, so that a copy of the cookie cannot
 * use it either, and deletes the cookie.
 */
export function signOut({ tickets, pages, isSecure }: Dependencies): Handler<Visit> {
  return async (visit) => {
    await readLaunchForm(visit);
    const { response, session, launchId, context, call } = visit;
    await tickets.redeem('launch-session', session.ticket, {
      events: [call.event('launch.session.ended.v1', {})],
    });
    // The guard has set the cookie of the session, which has ended now.
    response.removeHeader('Set-Cookie');
    const isFramed = context.client.frameAncestors.length > 0;
    setCookie(response, {
      name: launchSessionCookie(isSecure),
      value: '',
      expires: new Date(0),
      ...launchSessionCookieOptions({ path: `/oltr/${launchId}`, isSecure, isFramed }),
    });
    sendText(response, 'text/html', pages.render('signed-out.njk', {}));
  };
}

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
