import { fileURLToPath } from 'node:url';
import { errorEdge } from '@clinical-launch/http/errors';
import { createRouter } from '@clinical-launch/http/router';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import { createAssetsRouter, createPages } from '@clinical-launch/pages/templates';
import type { Router } from 'express';
import { createTimeWriter } from '../../present/written-time.ts';
import { auditPageRefusal, pageDialect, pageNotFound } from './errors.ts';
import { createOpenId } from './open-id.ts';
import { createSessions } from './session.ts';
import { showActivity } from './show-activity.ts';
import { showLaunch } from './show-launch.ts';
import { searchPatient, showPatient, showPatients } from './show-patients.ts';
import { exportSearch, search, showSearch } from './show-search.ts';
import { completeSignIn, home, signIn, signOut } from './sign-in.ts';
import { createStaffDoor } from './staff-door.ts';
import type { PagesDependencies } from './visit.ts';

const directory = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Creates the pages below `/audit/`, for people who sign in at the issuer. */
export function createPagesRouter(given: Omit<PagesDependencies, 'pages' | 'write'>): Router {
  const { config, clock, endedSessions } = given;
  const pages = createPages(directory('../../views'));
  const { origin, protocol } = new URL(config.publicUrl);
  const sessions = createSessions({
    sealer: config.sealer,
    clock,
    endedSessions,
    isSecure: protocol === 'https:',
  });
  const signingIn = { ...given, openId: createOpenId(config), sessions, origin };
  const forStaff = createStaffDoor(sessions, { ...given, pages, write: createTimeWriter(config.timeZone) });
  const headers = {
    // The form that signs out leads to the issuer.
    ...pageHeaders({ scriptHashes: [pages.scriptHash], formActions: [new URL(config.issuer).origin] }),
    // With no-referrer, a browser sends `Origin: null` even with our own forms (Fetch, "append a request
    // Origin header").
    'Referrer-Policy': 'same-origin',
  };

  const router = createRouter();
  router.use('/audit/assets', createAssetsRouter(directory('../../../public')));
  router.use('/audit', (_request, response, next) => {
    response.set(headers);
    next();
  });
  router.get('/audit', (_request, response) => response.redirect(308, home));
  router.get('/audit/sign-in', signIn(signingIn));
  router.get('/audit/callback', completeSignIn(signingIn));
  router.post('/audit/sign-out', signOut(signingIn));
  router.get('/audit/signed-out', (_request, response) => {
    response.type('html').send(pages.render('signed-out.njk', {}));
  });
  router.get(home, forStaff(showSearch));
  router.post(home, forStaff(search));
  router.get('/audit/export', forStaff(exportSearch));
  router.get('/audit/launches/:guid', forStaff(showLaunch));
  router.get('/audit/patients', forStaff(showPatients));
  router.post('/audit/patients', forStaff(searchPatient));
  router.get('/audit/patients/:pseudonym', forStaff(showPatient));
  router.get('/audit/activity', forStaff(showActivity));
  router.use('/audit', () => {
    throw pageNotFound();
  });
  router.use('/audit', errorEdge(pageDialect(pages, headers), auditPageRefusal(config.clientId)));
  return router;
}
