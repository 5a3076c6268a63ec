import type { Sealer } from '@clinical-launch/contracts';
import type { Clock } from '@clinical-launch/service';
import { createRouter, guidForm } from '@clinical-launch/service/http';
import { pageHeaders } from '@clinical-launch/service/pages';
import type { Pages } from '@clinical-launch/service/pages/templates';
import type { Tickets } from '@clinical-launch/tickets';
import type { Router } from 'express';
import type { OrderingConfig } from '../config.ts';
import type { Permission } from '../domain/action-rules.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { createTestSearch } from '../domain/test-search.ts';
import { noCatalogueOfLaboratory, pageNotFound, requestComplete, requestNotFound } from '../errors.ts';
import { resultPage } from '../present/addresses.ts';
import { createTimeWriter } from '../present/written-time.ts';
import type { OrderingDatabase } from '../store/database.ts';
import { findDraft } from '../store/drafts.ts';
import { sightOf } from '../store/keys.ts';
import type { ListSearches } from '../store/list-searches.ts';
import type { Prints } from '../store/prints.ts';
import type { RecordEvents } from '../store/record-events.ts';
import type { RequestLists } from '../store/request-lists.ts';
import { submissionsOf } from '../store/submissions.ts';
import { findOrderOf, findRequest } from '../store/test-requests.ts';
import {
  type ChoosingHandler,
  postChoice,
  postChosenPanel,
  postMatches,
  showChoice,
} from './choose-tests.ts';
import { toChange, toNewOrder } from './choosing-visit.ts';
import { listRequests, searchRequests } from './list-requests.ts';
import { openLaunch } from './open-launch.ts';
import { printForm, printLabels } from './print-request.ts';
import { type RequestHandler, recordView } from './reading.ts';
import { postReview, showReview } from './review-order.ts';
import { postSamples, showSamples } from './samples-page.ts';
import { createShow } from './show.ts';
import { showOrder } from './show-order.ts';
import { showRequest } from './show-request.ts';
import { signOut } from './sign-out.ts';
import { createDoor, type Visit, type VisitHandler } from './visit.ts';

type RoutesNeeds = {
  readonly tickets: Pick<Tickets, 'find' | 'redeem'>;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly pages: Pages;
  readonly database: OrderingDatabase;
  readonly requestLists: RequestLists;
  readonly listSearches: ListSearches;
  readonly prints: Prints;
  readonly record: RecordEvents;
  readonly nudge: () => void;
};

/** Everything below `/oltr` but the assets. */
export function createRoutes(
  { publicUrl, catalogues, timeZone }: OrderingConfig,
  parts: RoutesNeeds,
): Router {
  const { tickets, clock, pages, database } = parts;
  const { origin, protocol } = new URL(publicUrl);
  const show = createShow({ pages, clock, timeZone });
  const write = createTimeWriter(timeZone);
  const needs = { ...parts, catalogues, show, write, timeZone, isSecure: protocol === 'https:' };
  const inLaunch = createDoor({ tickets, pages, publicOrigin: origin });

  /** What the pages that choose, show and change tests need, with the catalogue that they use: made once for each. */
  const needsOf = new Map<Catalogue, ReturnType<typeof makeNeeds>>();
  const makeNeeds = (catalogue: Catalogue) => ({ ...needs, catalogue, search: createTestSearch(catalogue) });
  const needsWith = (catalogue: Catalogue) => {
    const made = needsOf.get(catalogue) ?? makeNeeds(catalogue);
    needsOf.set(catalogue, made);
    return made;
  };
  for (const catalogue of catalogues.all) needsWith(catalogue);
  type Needs = ReturnType<typeof needsWith>;
  type Make<Handler> = (needs: Needs) => Handler;

  /**
   * The pages of a new order, with the catalogue of the laboratory that the launch names: over once it was submitted,
   * since a launch makes one order.
   */
  const ordering =
    (make: Make<ChoosingHandler>): VisitHandler =>
    async (visit) => {
      const submitted = await findOrderOf(database, visit.launchId);
      if (submitted !== undefined) return visit.response.redirect(303, resultPage(visit.home, submitted));
      const catalogue = catalogues.find(visit.context.request.performer);
      if (catalogue === undefined) throw noCatalogueOfLaboratory();
      await make(needsWith(catalogue))(toNewOrder(visit, catalogue));
    };
  /** The same pages for the change of a request, with the catalogue of the laboratory that it went to. */
  const changing = (page: string, make: Make<ChoosingHandler>) =>
    inLaunch(async (visit) => {
      const request = await getRequest(visit, database);
      if (request.status === 'Complete') {
        // The form that completed it may come twice.
        const submissions = await submissionsOf(database, visit.launchId);
        const isOwn = submissions.some(({ requestGuid }) => requestGuid === request.guid);
        if (!isOwn) throw requestComplete();
        return visit.response.redirect(303, resultPage(visit.home, request));
      }
      const choosing = toChange(visit, request, catalogues.ofRequest(request));
      // The panel answers a form: without the page before it, the form is the first reading. Matches show nothing of
      // the request.
      const isNew =
        visit.request.method !== 'POST' ||
        (page !== 'matches' && (await findDraft(database, choosing.place)) === undefined);
      if (isNew) await recordView(visit, request, needs);
      await make(needsWith(catalogues.ofRequest(request)))(choosing);
    }, 'change-tests');

  /** The pages of one request that the launch sees. */
  const ofRequest = (permission: Permission) => (make: Make<RequestHandler>) =>
    inLaunch(async (visit) => {
      const request = await getRequest(visit, database);
      await make(needsWith(catalogues.ofRequest(request)))(visit, request);
    }, permission);
  const reading = ofRequest('read');
  const recording = ofRequest('record-samples');

  const router = createRouter();
  router.get('/', (_request, response) => {
    response.set(pageHeaders({ scriptHashes: [pages.scriptHash] })).type('html');
    response.send(pages.render('start.njk', {}));
  });
  router.get('/:launchId', ({ params: { launchId } }, response, next) => {
    if (!guidForm.test(launchId)) return next();
    response.redirect(308, `/oltr/${launchId}/`);
  });
  const choose = ordering(showChoice);
  const open = openLaunch(needs);
  router.get(
    '/:launchId/',
    inLaunch((visit) => (visit.rule.opens === 'new-order' ? choose(visit) : open(visit))),
  );
  const choosing: readonly (readonly [method: 'get' | 'post', page: string, make: Make<ChoosingHandler>])[] =
    [
      ['get', '', showChoice],
      ['post', '', postChoice],
      ['post', 'chosen', postChosenPanel],
      ['post', 'matches', postMatches],
      ['get', 'review', showReview],
      ['post', 'review', postReview],
    ];
  for (const [method, page, make] of choosing) {
    router[method](`/:launchId/requests/:guid/tests/${page}`, changing(page, make));
    if (`${method}${page}` !== 'get') {
      router[method](`/:launchId/${page}`, inLaunch(ordering(make), 'order'));
    }
  }
  router.get('/:launchId/requests', inLaunch(listRequests(needs)));
  router.post('/:launchId/requests', inLaunch(searchRequests(needs)));
  router.get('/:launchId/requests/:guid', reading(showRequest));
  router.get('/:launchId/requests/:guid/form', reading(printForm));
  router.get('/:launchId/requests/:guid/labels', reading(printLabels));
  router.get('/:launchId/requests/:guid/samples', recording(showSamples));
  router.post('/:launchId/requests/:guid/samples', recording(postSamples));
  router.get('/:launchId/orders/:guid', inLaunch(showOrder(needs)));
  router.post('/:launchId/sign-out', inLaunch(signOut(needs)));
  router.use(() => {
    throw pageNotFound();
  });
  return router;
}

/**
 * The request that the path names.
 * @throws ServiceError 404 when there is none, or none that this launch sees.
 */
async function getRequest({ request, context }: Visit, database: OrderingDatabase): Promise<TestRequest> {
  const { guid = '' } = request.params;
  const found = guidForm.test(guid) ? await findRequest(database, guid, sightOf(context)) : undefined;
  if (found === undefined) throw requestNotFound();
  return found;
}
