import { callOf } from '@clinical-launch/http/call';
import { isOwnForm } from '@clinical-launch/pages/own-form';
import type { RequestHandler } from 'express';
import { foreignForm, notAllowed } from './errors.ts';
import type { Sessions } from './session.ts';
import { home } from './sign-in.ts';
import type { PagesDependencies, VisitHandler } from './visit.ts';

/**
 * Serves people who are signed in and may read the log. Sends others to sign in, and back to the page that
 * they asked for. The handler throws ServiceError 403 for a person without the right, and for a form from
 * another site.
 */
export function createStaffDoor(sessions: Sessions, dependencies: PagesDependencies) {
  const { publicUrl, clientId } = dependencies.config;
  const { origin } = new URL(publicUrl);
  return (handle: VisitHandler): RequestHandler =>
    async (request, response) => {
      const call = callOf(response);
      call.source = '/audit-trail';
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (!isRead && !isOwnForm(request, origin)) throw foreignForm();
      const staff = await sessions.find(request, response);
      if (staff === undefined) {
        const query = new URLSearchParams({ to: isRead ? request.originalUrl : home });
        return response.redirect(303, `${publicUrl}/audit/sign-in?${query.toString()}`);
      }
      call.identify(`staff ${staff.subject}`, clientId);
      const { username, name } = staff;
      call.concern({ user: { username, name } });
      if (!staff.mayRead) throw notAllowed();
      await handle({ request, response, call, staff }, dependencies);
    };
}
