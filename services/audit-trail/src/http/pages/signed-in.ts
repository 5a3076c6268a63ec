import { redirect } from '@clinical-launch/http/answer';
import type { Exchange, Guard } from '@clinical-launch/http/endpoint';
import { type LocalRateLimiter, requestsPerSecondPerSession } from '@clinical-launch/limits/rate-limit';
import { isOwnForm } from '@clinical-launch/pages/own-form';
import type { AuditPagesConfig } from '../../pages-config.ts';
import { foreignForm, notAllowed } from './errors.ts';
import type { Sessions } from './session.ts';
import { home } from './sign-in.ts';
import type { Visit } from './visit.ts';

/**
 * Creates the guard that accepts signed-in staff who may read the log. It redirects users without a session
 * to the sign-in, which returns them to the requested page. It throws ServiceError 403 for staff without the
 * right, and for a form from another site, and 429 above the rate limit of a person.
 */
export function signedIn(
  sessions: Sessions,
  { publicUrl, clientId }: Pick<AuditPagesConfig, 'publicUrl' | 'clientId'>,
  limiter: LocalRateLimiter,
): Guard<Exchange, Visit> {
  const { origin } = new URL(publicUrl);
  return async (exchange) => {
    const { request, response, call } = exchange;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead && !isOwnForm(request, origin)) throw foreignForm();
    const staff = await sessions.find(request, response);
    if (staff === undefined) {
      const query = new URLSearchParams({ to: isRead ? (request.url ?? home) : home });
      redirect(response, `${publicUrl}/audit/sign-in?${query.toString()}`);
      return undefined;
    }
    call.identify(`staff ${staff.subject}`, clientId);
    const { username, name } = staff;
    call.concern({ user: { username, name } });
    limiter.count(staff.subject, requestsPerSecondPerSession);
    if (!staff.mayRead) throw notAllowed();
    return { ...exchange, staff };
  };
}
