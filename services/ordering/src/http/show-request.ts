import { redirect } from '@clinical-launch/http/answer';
import { type Handler, textParameter } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import { openSessionCookie } from '@clinical-launch/pages/launch-session';
import { samplesOf } from '../domain/record-samples.ts';
import { notOfThisAction, pageNotFound } from '../errors.ts';
import { reportPage, requestPage } from '../present/addresses.ts';
import { describeMoment } from '../present/request-caption.ts';
import { presentHistory, presentReportLinks, presentRequest } from '../present/request-report.ts';
import { adviseIfWrong, presentResult } from '../present/result-model.ts';
import { confirmPatient, isPatientConfirmed } from '../work/confirm-patient.ts';
import { findNextInList } from '../work/find-in-list.ts';
import { findResult, historyOf } from '../work/find-requests.ts';
import type { Dependencies } from './dependencies.ts';
import { type RequestVisit, readRequest } from './page-guards.ts';
import { readLabels } from './print-labels.ts';
import { readForm } from './print-request.ts';
import { readLaunchForm, type Visit } from './visit.ts';

/**
 * Shows one request: `GET /oltr/{launchId}/requests/{guid}`. The page itself changes nothing (OLTR:
 * PatientReport).
 */
export function showRequest(dependencies: Dependencies): Handler<RequestVisit> {
  return async (visit) => {
    const { about, catalogue, home, rule } = visit;
    const { write, show } = dependencies;
    await readRequest(visit, about, dependencies);
    const history = await historyOf(dependencies, about);
    const links = presentReportLinks({ request: about, rule, home }, write);
    const isConfirmed = await isPatientConfirmed(dependencies, visit.context, about);
    show(visit, 'request.njk', {
      about,
      guid: about.guid,
      report: presentRequest(about, { catalogue, write }),
      ifWrong: adviseIfWrong(about, catalogue),
      history: presentHistory(history, write),
      hasLabels: samplesOf(about).length > 0,
      ...links,
      mustConfirm: links.change !== undefined && !isConfirmed,
    });
  };
}

/**
 * Stores that the request is for the patient of the launch, whose date of birth was corrected: `POST
 * /oltr/{launchId}/requests/{guid}/same-patient`. Then opens the page that changes the request. The handler
 * throws ServiceError 403 if the launch may not change the request.
 */
export function postSamePatient(dependencies: Dependencies): Handler<RequestVisit> {
  return async (visit) => {
    const { about, home, rule } = visit;
    await readLaunchForm(visit);
    const next = requestPage(home, rule, about);
    if (next === reportPage(home, about)) throw notOfThisAction();
    await confirmPatient(dependencies, visit, about);
    dependencies.nudge();
    redirect(visit.response, next);
  };
}

/**
 * Shows the result of a submission of this launch: `GET /oltr/{launchId}/orders/{guid}`. The page contains
 * the hidden iframe `Notepad` for the PMS (OLTR: Returned data). With `?print`, the page contains the form
 * and the labels, and counts as a print of both.
 */
export function showOrder(dependencies: Dependencies): Handler<Visit> {
  return async (visit) => {
    const { catalogues, show, isSecure, clock, timeZone } = dependencies;
    const { request, response, context, session, rule, home } = visit;
    const result = await findResult(dependencies, context, textParameter(visit, 'guid'));
    if (result === undefined) throw pageNotFound();
    const { order, version, others } = result;
    // The cookie is for the path of this order's document alone. `/orders/{guid}.xml`, which is not below this
    // path, is redirected to it.
    const isFramed = context.client.frameAncestors.length > 0;
    const cookie = openSessionCookie(session, { path: `/orders/${order.guid}`, isSecure, isFramed });
    response.appendHeader('Set-Cookie', cookie);
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
