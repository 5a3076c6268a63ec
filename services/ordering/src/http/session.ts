import { sendStatus, sendText } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import { setCookie } from '@clinical-launch/pages/cookies';
import { launchSessionCookie, launchSessionCookieOptions } from '@clinical-launch/pages/launch-session';
import type { Dependencies } from './dependencies.ts';
import { readLaunchForm, type Visit } from './visit.ts';

/**
 * Answers 204 to a page that requests more time: `POST /oltr/{launchId}/session`. The guard `inLaunch` has
 * already extended the session, as it does for every request.
 */
export async function extendSession(visit: Visit): Promise<void> {
  await readLaunchForm(visit);
  sendStatus(visit.response, 204);
}

/**
 * Ends the session, so that neither this browser nor a copy of the cookie can use it:
 * `POST /oltr/{launchId}/sign-out`.
 */
export function signOut({ tickets, pages, isSecure }: Dependencies): Handler<Visit> {
  return async (visit) => {
    await readLaunchForm(visit);
    const { response, session, launchId, context, call } = visit;
    await tickets.redeem('launch-session', session.ticket, {
      events: [call.event('launch.session.ended.v1', {})],
    });
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
