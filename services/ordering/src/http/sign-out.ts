import { launchSessionCookie, launchSessionCookieOptions } from '@clinical-launch/pages/launch-session';
import type { VisitHandler } from './launch-door.ts';
import { readLaunchForm } from './visit.ts';

/**
 * Ends the session, so that neither this browser nor a copy of the cookie can use it:
 * `POST /oltr/{launchId}/sign-out`.
 */
export const signOut: VisitHandler = async (visit, { tickets, pages, isSecure }) => {
  await readLaunchForm(visit);
  const { response, ticket, launchId, context, call } = visit;
  await tickets.redeem('launch-session', ticket, {
    events: [call.event('launch.session.ended.v1', {})],
  });
  const isFramed = context.client.frameAncestors.length > 0;
  response.clearCookie(
    launchSessionCookie(isSecure),
    launchSessionCookieOptions({ path: `/oltr/${launchId}`, isSecure, isFramed }),
  );
  response.type('html').send(pages.render('signed-out.njk', {}));
};
