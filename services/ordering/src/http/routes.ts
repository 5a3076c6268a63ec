import type { Sealer } from '@clinical-launch/contracts';
import { type Clock, createRouter, guidForm, pageHeaders } from '@clinical-launch/service';
import type { Pages } from '@clinical-launch/service/pages';
import type { Tickets } from '@clinical-launch/tickets';
import type { Router } from 'express';
import type { OrderingConfig } from '../config.ts';
import { createTestSearch } from '../domain/search.ts';
import { pageNotFound } from '../errors.ts';
import type { Drafts } from '../store/drafts.ts';
import type { TestRequests } from '../store/test-requests.ts';
import { postChoice, postChosenPanel, postMatches, showChoice } from './choose-tests.ts';
import { postReview, resultPage, showReview } from './review-order.ts';
import { createShow } from './show.ts';
import { showOrder } from './show-order.ts';
import { createDoor, type VisitHandler } from './visit.ts';

type RoutesNeeds = {
  readonly tickets: Pick<Tickets, 'find'>;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly pages: Pages;
  readonly drafts: Drafts;
  readonly testRequests: TestRequests;
  readonly nudge: () => void;
};

/** Everything below `/oltr` but the assets. */
export function createRoutes({ publicUrl, catalogue, timeZone }: OrderingConfig, parts: RoutesNeeds): Router {
  const { tickets, clock, pages, testRequests } = parts;
  const { origin, protocol } = new URL(publicUrl);
  const show = createShow({ pages, clock, timeZone });
  const needs = { ...parts, catalogue, search: createTestSearch(catalogue), show };
  const inLaunch = createDoor({ tickets, pages, publicOrigin: origin });

  /** The steps before a submission: for OrderTest alone, and over once its order was submitted. */
  const choosing = (handle: VisitHandler) =>
    inLaunch(async (visit) => {
      const { action } = visit.context.request;
      if (action !== 'OrderTest') return show(visit, 'not-offered.njk', { action });
      const submitted = await testRequests.findByLaunch(visit.launchId);
      if (submitted !== undefined) return visit.response.redirect(303, resultPage(visit.home, submitted));
      await handle(visit);
    });

  const router = createRouter();
  router.get('/', (_request, response) => {
    response.set(pageHeaders({ scriptHashes: [pages.scriptHash] })).type('html');
    response.send(pages.render('start.njk', {}));
  });
  router.get('/:launchId', ({ params: { launchId } }, response, next) => {
    if (!guidForm.test(launchId)) return next();
    response.redirect(308, `/oltr/${launchId}/`);
  });
  router.get('/:launchId/', choosing(showChoice(needs)));
  router.post('/:launchId/', choosing(postChoice(needs)));
  router.post('/:launchId/chosen', choosing(postChosenPanel(needs)));
  router.post('/:launchId/matches', choosing(postMatches(needs)));
  router.get('/:launchId/review', choosing(showReview(needs)));
  router.post('/:launchId/review', choosing(postReview(needs)));
  router.get('/:launchId/orders/:guid', inLaunch(showOrder({ ...needs, isSecure: protocol === 'https:' })));
  router.use(() => {
    throw pageNotFound();
  });
  return router;
}
