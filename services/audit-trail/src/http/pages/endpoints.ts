import { fileURLToPath } from 'node:url';
import { redirect, sendText } from '@clinical-launch/http/answer';
import type { Mounted } from '@clinical-launch/http/app';
import { endpoint } from '@clinical-launch/http/endpoint';
import { createRateLimiter } from '@clinical-launch/limits/rate-limit';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import { createPages, serveAssets } from '@clinical-launch/pages/templates';
import { createTimeWriter } from '../../present/written-time.ts';
import { auditPageRefusal, pageDialect, pageNotFound } from './errors.ts';
import { createOpenId } from './open-id.ts';
import { createSessions } from './session.ts';
import { showActivity } from './show-activity.ts';
import { showLaunch } from './show-launch.ts';
import { searchPatient, showPatient, showPatients } from './show-patients.ts';
import { exportSearch, search, showSearch } from './show-search.ts';
import { completeSignIn, home, signIn, signOut } from './sign-in.ts';
import { signedIn } from './signed-in.ts';
import type { PagesDependencies } from './visit.ts';

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
  const forStaff = { ...open, place: signedIn(sessions, config, createRateLimiter(clock)) };

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
      endpoint({
        ...open,
        path: '/audit/signed-out',
        methods: {
          GET: ({ response }) => sendText(response, 'text/html', pages.render('signed-out.njk', {})),
        },
      }),
      endpoint({
        ...forStaff,
        path: home,
        methods: { GET: showSearch(dependencies), POST: search(dependencies) },
      }),
      endpoint({ ...forStaff, path: '/audit/export', methods: { GET: exportSearch(dependencies) } }),
      endpoint({ ...forStaff, path: '/audit/launches/:guid', methods: { GET: showLaunch(dependencies) } }),
      endpoint({
        ...forStaff,
        path: '/audit/patients',
        methods: { GET: showPatients(dependencies), POST: searchPatient(dependencies) },
      }),
      endpoint({
        ...forStaff,
        path: '/audit/patients/:pseudonym',
        methods: { GET: showPatient(dependencies) },
      }),
      endpoint({ ...forStaff, path: '/audit/activity', methods: { GET: showActivity(dependencies) } }),
    ],
    below: [{ path: '/audit/assets', serve: serveAssets(directory('../../../public')) }],
    edges: [{ path: '/audit', dialect, notFound: pageNotFound }],
  };
}
