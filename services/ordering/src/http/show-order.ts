import { type Handler, textParameter } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import { openSessionCookie } from '@clinical-launch/pages/launch-session';
import { pageNotFound } from '../errors.ts';
import { requestPage } from '../present/addresses.ts';
import { describeMoment } from '../present/request-caption.ts';
import { presentResult } from '../present/result-model.ts';
import { findNextInList } from '../work/find-in-list.ts';
import { findResult } from '../work/find-requests.ts';
import type { Dependencies } from './dependencies.ts';
import { readLabels } from './print-labels.ts';
import { readForm } from './print-request.ts';
import type { Visit } from './visit.ts';

/**
 * Shows the result of a submission of this launch: `GET /oltr/{launchId}/orders/{guid}`. The page contains
 * the hidden iframe `Notepad` for the PMS (OLTR: Returned data). With `?print`, the page contains the form
 * and the labels, and counts as a print of both.
 */
export function showOrder(dependencies: Dependencies): Handler<Visit> {
  return async (visit) => {
    const { catalogues, show, isSecure, clock, timeZone } = dependencies;
    const { request, context, rule, home } = visit;
    const result = await findResult(dependencies, context, textParameter(visit, 'guid'));
    if (result === undefined) throw pageNotFound();
    const { order, version, others } = result;
    setDocumentCookie(visit, order.guid, isSecure);
    const catalogue = catalogues.ofRequest(order);
    const performer = catalogues.find(context.request.performer);
    const next = await findNextInList(dependencies, context, { guid: order.guid, catalogue: performer });
    const papers = queryOf(request).has('print') && {
      form: await readForm({ ...visit, about: order, catalogue }, dependencies),
      labels: await readLabels(visit, dependencies, [order]),
    };
    show(visit, 'submitted.njk', {
      about: order,
      requestedAt: describeMoment(order.createdAt, { now: clock.now(), timeZone }),
      papers,
      ...presentResult({
        order,
        version,
        others,
        action: context.request.action,
        rule,
        home,
        catalogue,
      }),
      next: next && requestPage(home, rule, next),
      resultOrigin: context.client.resultOrigin,
    });
  };
}

/**
 * Sets the session cookie for the path of this order's document, and for no other order. A request for
 * `/orders/{guid}.xml`, which is not below this path, is redirected to it.
 */
function setDocumentCookie({ response, context, session }: Visit, guid: string, isSecure: boolean): void {
  const isFramed = context.client.frameAncestors.length > 0;
  const options = { path: `/orders/${guid}`, isSecure, isFramed };
  response.appendHeader('Set-Cookie', openSessionCookie(session, options));
}
