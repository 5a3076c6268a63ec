import { createEvent } from '@clinical-launch/contracts';
import { launchSessionCookie, launchSessionCookieOptions } from '@clinical-launch/service';
import type { Pages } from '@clinical-launch/service/pages';
import type { Tickets } from '@clinical-launch/tickets';
import { readLaunchForm, type VisitHandler } from './visit.ts';

type SignOutNeeds = {
  readonly tickets: Pick<Tickets, 'redeem'>;
  readonly pages: Pages;
  /** Whether the platform is served by https. */
  readonly isSecure: boolean;
};

/**
 * `POST /oltr/{launchId}/sign-out`: uses the session up, so that neither this browser nor a copy of the cookie has it
 * any more.
 */
export function signOut({ tickets, pages, isSecure }: SignOutNeeds): VisitHandler {
  return async (visit) => {
    await readLaunchForm(visit);
    const { response, ticket, launchId, context, origin } = visit;
    await tickets.redeem('launch-session', ticket, {
      events: [createEvent('launch.session.ended.v1', origin, {})],
    });
    const isFramed = context.client.frameAncestors.length > 0;
    response.clearCookie(
      launchSessionCookie(isSecure),
      launchSessionCookieOptions({ path: `/oltr/${launchId}`, isSecure, isFramed }),
    );
    response.type('html').send(pages.render('signed-out.njk', {}));
  };
}
