import { guidForm } from '@clinical-launch/http/call';
import { createRouter } from '@clinical-launch/http/router';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import type { Router } from 'express';
import type { Permission } from '../domain/action-rules.ts';
import { pageNotFound } from '../errors.ts';
import { postLeftRequest } from './answer-offer.ts';
import type { Dependencies } from './dependencies.ts';
import { postNewRequest } from './discard-draft.ts';
import { extendSession } from './extend-session.ts';
import { createLaunchDoor, type VisitHandler } from './launch-door.ts';
import { listRequests, searchRequests } from './list-requests.ts';
import { openLaunch } from './open-launch.ts';
import { ofChange, ofNewOrder, ofRequest } from './page-doors.ts';
import { printLabels, printTickedLabels } from './print-labels.ts';
import { printForm } from './print-request.ts';
import { postReview, postReviewDraft, showReview } from './review-page.ts';
import { postSamples, showSamples } from './samples-page.ts';
import { showOrder } from './show-order.ts';
import { showRequest } from './show-request.ts';
import { signOut } from './sign-out.ts';
import { postChoice, postChosenPanel, postMatches, showChoice } from './tests-page.ts';

type Route = {
  readonly method: 'get' | 'post';
  /** Below `/oltr/{launchId}` */
  readonly path: string;
  /** The permission that the action of the launch needs; absent if every launch may do it. */
  readonly permission?: Permission;
  readonly handle: VisitHandler;
};

const samples = '/requests/:guid/samples';
const tests = '/requests/:guid/tests';

/** The pages of a launch, a row each. */
export const routes: readonly Route[] = [
  { method: 'get', path: '/', handle: openLaunch },
  { method: 'post', path: '/', permission: 'order', handle: ofNewOrder(postChoice) },
  { method: 'post', path: '/chosen', permission: 'order', handle: ofNewOrder(postChosenPanel) },
  { method: 'post', path: '/matches', permission: 'order', handle: ofNewOrder(postMatches) },
  { method: 'post', path: '/new-request', permission: 'order', handle: ofNewOrder(postNewRequest) },
  { method: 'post', path: '/left-request', permission: 'order', handle: ofNewOrder(postLeftRequest) },
  { method: 'get', path: '/review', permission: 'order', handle: ofNewOrder(showReview) },
  { method: 'post', path: '/review', permission: 'order', handle: ofNewOrder(postReview) },
  { method: 'post', path: '/review/draft', permission: 'order', handle: ofNewOrder(postReviewDraft) },

  { method: 'get', path: `${tests}/`, permission: 'change-tests', handle: ofChange(showChoice) },
  { method: 'post', path: `${tests}/`, permission: 'change-tests', handle: ofChange(postChoice) },
  { method: 'post', path: `${tests}/chosen`, permission: 'change-tests', handle: ofChange(postChosenPanel) },
  {
    method: 'post',
    path: `${tests}/matches`,
    permission: 'change-tests',
    handle: ofChange(postMatches, { shows: false }),
  },
  { method: 'get', path: `${tests}/review`, permission: 'change-tests', handle: ofChange(showReview) },
  { method: 'post', path: `${tests}/review`, permission: 'change-tests', handle: ofChange(postReview) },
  {
    method: 'post',
    path: `${tests}/review/draft`,
    permission: 'change-tests',
    handle: ofChange(postReviewDraft, { shows: false }),
  },

  { method: 'get', path: samples, permission: 'record-samples', handle: ofRequest(showSamples) },
  { method: 'post', path: samples, permission: 'record-samples', handle: ofRequest(postSamples) },

  { method: 'get', path: '/requests', handle: listRequests },
  { method: 'post', path: '/requests', handle: searchRequests },
  { method: 'get', path: '/requests/:guid', permission: 'read', handle: ofRequest(showRequest) },
  { method: 'get', path: '/requests/:guid/form', permission: 'read', handle: ofRequest(printForm) },
  { method: 'get', path: '/requests/:guid/labels', permission: 'read', handle: ofRequest(printLabels) },

  { method: 'get', path: '/labels', permission: 'read', handle: printTickedLabels },

  { method: 'get', path: '/orders/:guid', handle: showOrder },
  { method: 'post', path: '/session', handle: extendSession },
  { method: 'post', path: '/sign-out', handle: signOut },
];

/** Serves everything below `/oltr` except the assets. */
export function createRoutes(dependencies: Dependencies): Router {
  const { pages } = dependencies;
  const inLaunch = createLaunchDoor(dependencies);
  const router = createRouter();
  router.get('/', (_request, response) => {
    response.set(pageHeaders({ scriptHashes: [pages.scriptHash] })).type('html');
    response.send(pages.render('start.njk', {}));
  });
  router.get('/:launchId', ({ params: { launchId } }, response, next) => {
    if (!guidForm.test(launchId)) return next();
    response.redirect(308, `/oltr/${launchId}/`);
  });
  for (const { method, path, permission, handle } of routes) {
    router[method](`/:launchId${path}`, inLaunch(handle, permission));
  }
  router.use(() => {
    throw pageNotFound();
  });
  return router;
}
