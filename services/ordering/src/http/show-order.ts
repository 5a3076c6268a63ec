import type { Action } from '@clinical-launch/contracts';
import { launchSessionCookie, launchSessionCookieOptions } from '@clinical-launch/service/pages';
import type { Catalogues } from '../domain/catalogues.ts';
import { samplesInDrawOrder } from '../domain/collection.ts';
import { isLive } from '../domain/lifecycle.ts';
import { fullName } from '../domain/person-name.ts';
import { samplesOf } from '../domain/record-samples.ts';
import { pageNotFound } from '../errors.ts';
import { requestPage, resultPage } from '../present/addresses.ts';
import type { OrderingDatabase } from '../store/database.ts';
import { sightOf } from '../store/keys.ts';
import { type Submission, submissionsOf } from '../store/submissions.ts';
import { findRequest } from '../store/test-requests.ts';
import type { Show } from './show.ts';
import type { Visit, VisitHandler } from './visit.ts';

type ShowOrderNeeds = {
  readonly catalogues: Catalogues;
  readonly database: OrderingDatabase;
  readonly show: Show;
  /** Whether the platform is served by https. */
  readonly isSecure: boolean;
};

/** What was done, by the action that did it. */
const titles: Readonly<Partial<Record<Action, string>>> = {
  OrderTest: 'Order submitted',
  UpdateTest: 'Request updated',
};

/**
 * `GET /oltr/{launchId}/orders/{guid}`: the result of a submission, with the hidden IFRAME `Notepad` for the PMS
 * (OLTR: Returned data). Only of what this launch submitted. The order's own paths get the session too, and no other
 * order's.
 */
export function showOrder({ catalogues, database, show, isSecure }: ShowOrderNeeds): VisitHandler {
  return async (visit) => {
    const { request, response, launchId, context, rule, ticket, home } = visit;
    const guid = request.params.guid ?? '';
    const submissions = await submissionsOf(database, launchId);
    const submission = submissions.find(({ requestGuid }) => requestGuid === guid);
    const order = submission && (await findRequest(database, guid, sightOf(context)));
    if (submission === undefined || order === undefined) throw pageNotFound();
    const { frameAncestors, resultOrigin } = context.client;
    const isFramed = frameAncestors.length > 0;
    // A cookie's path ends at a slash, so the document beside the order's folder needs its own.
    for (const path of [`/orders/${order.guid}`, `/orders/${order.guid}.xml`]) {
      response.cookie(
        launchSessionCookie(isSecure),
        ticket,
        launchSessionCookieOptions({ path, isSecure, isFramed }),
      );
    }
    const others = submissions.filter(({ requestGuid }) => requestGuid !== guid);
    show(visit, 'submitted.njk', {
      about: order,
      title: titles[context.request.action] ?? 'Samples recorded',
      order,
      version: submission.requestVersion,
      isRemoved: !order.batches.some(({ tests }) => tests.some(isLive)),
      isSampleNeeded: samplesOf(order).length > 0,
      draws: samplesInDrawOrder(order, catalogues.ofRequest(order)).filter(
        ({ sample }) => sample.completedAt === undefined,
      ),
      others: await presentOthers(visit, others, database),
      isList: rule.opens === 'list',
      mayRecordSamples: rule.may.includes('record-samples'),
      rest: requestPage(home, rule, order),
      resultOrigin,
    });
  };
}

/** The other requests that the launch submitted, each with its own result page. */
async function presentOthers(
  { home, rule, context }: Visit,
  submissions: readonly Submission[],
  database: OrderingDatabase,
) {
  const sight = sightOf(context);
  const found = await Promise.all(
    submissions.map(({ requestGuid }) => findRequest(database, requestGuid, sight)),
  );
  return found
    .filter((request) => request !== undefined)
    .map((request) => ({
      href: resultPage(home, request),
      references: request.batches.map(({ orderReference }) => orderReference).join(', '),
      isComplete: request.status === 'Complete',
      // A launch for one patient has the name on every page.
      ...(rule.sees === 'practice' ? { patient: fullName(request.parties.patient.name) } : {}),
    }));
}
