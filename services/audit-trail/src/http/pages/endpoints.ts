import { fileURLToPath } from 'node:url';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { redirect, sendText } from '@clinical-launch/http/answer';
import type { Mounted } from '@clinical-launch/http/app';
import { type Exchange, endpoint, type Guard, type Handler } from '@clinical-launch/http/endpoint';
import {
  createRateLimiter,
  type LocalRateLimiter,
  requestsPerSecondPerSession,
} from '@clinical-launch/limits/rate-limit';
import { isOwnForm } from '@clinical-launch/pages/own-form';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import { createPages, serveAssets } from '@clinical-launch/pages/templates';
import type { AuditPagesConfig } from '../../pages-config.ts';
import { createTimeWriter } from '../../present/written-time.ts';
import { auditPageRefusal, foreignForm, notAllowed, pageDialect, pageNotFound } from './errors.ts';
import { createOpenId } from './open-id.ts';
import { createSessions, type Sessions } from './session.ts';
import { comparePatient, showActivity, showLaunch } from './show-launch.ts';
import { searchPatient, showPatient, showPatients } from './show-patients.ts';
import { exportSearch, search, showSearch } from './show-search.ts';
import { completeSignIn, home, signIn, signOut } from './sign-in.ts';
import type { PagesDependencies, Visit } from './visit.ts';

const directory = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Creates the pages below `/audit/` for staff who sign in at the issuer, with their assets and error pages.
 */
export function auditPages(given: Omit<PagesDependencies, 'pages' | 'write'>): Mounted {
  const { config, clock, endedSessions } = given;
  const pages = createPages(directory('../../views'), config);
  const { origin, protocol } = new URL(config.publicUrl);
  const isSecure = protocol === 'https:';
  const sessions = createSessions({ sealer: config.sealer, clock, endedSessions, isSecure });
  const signingIn = { ...given, openId: createOpenId(config), sessions, origin };
  const dependencies = { ...given, pages, write: createTimeWriter(config.timeZone) };
  const headers = {
    ...pageHeaders({ scriptHashes: [pages.scriptHash] }),
    // With no-referrer, browsers send `Origin: null` even for the forms of these pages (Fetch, "append a
    // request Origin header").
    'Referrer-Policy': 'same-origin',
  };
  const dialect = pageDialect(pages, headers);
  const open = { source: '/audit-trail', dialect, headers, audit: auditPageRefusal(config.clientId) };
  const forStaff = { ...open, guard: signedIn(sessions, config, createRateLimiter(clock)) };
  const signedOut: Handler = ({ response }) =>
    sendText(response, 'text/html', pages.render('signed-out.njk', {}));
  const pageFor = (path: string, GET: Handler<Visit>, POST?: Handler<Visit>) =>
    endpoint({ ...forStaff, path, methods: { GET, ...withoutUndefined({ POST }) } });

  return {
    endpoints: [
      endpoint({
        ...open,
        path: '/audit',
        methods: { GET: ({ response }) => redirect(response, home, 308) },
      }),
      endpoint({ ...open, path: '/audit/sign-in', methods: { GET: signIn(signingIn) } }),
      endpoint({ ...open, path: '/audit/callback', methods: { GET: completeSignIn(signingIn) } }),
      endpoint({ ...open, path: '/audit/sign-out', methods: { POST: signOut({ ...signingIn, pages }) } }),
      endpoint({ ...open, path: '/audit/signed-out', methods: { GET: signedOut } }),
      pageFor(home, showSearch(dependencies), search(dependencies)),
      pageFor('/audit/export', exportSearch(dependencies)),
      pageFor('/audit/launches/:guid', showLaunch(dependencies), comparePatient(dependencies)),
      pageFor('/audit/patients', showPatients(dependencies), searchPatient(dependencies)),
      pageFor('/audit/patients/:pseudonym', showPatient(dependencies)),
      pageFor('/audit/activity', showActivity(dependencies)),
    ],
    below: [{ path: '/audit/assets', serve: serveAssets(directory('../../../public')) }],
    edges: [{ path: '/audit', dialect, notFound: pageNotFound }],
  };
}

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
