import { redirect } from '@clinical-launch/http/answer';
import { type Guard, textParameter } from '@clinical-launch/http/endpoint';
import { isSpeculative, queryOf } from '@clinical-launch/http/request-target';
import type { Catalogue } from '../domain/catalogue.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { noCatalogueOfLaboratory, requestComplete, requestNotFound, speculativeReading } from '../errors.ts';
import { reportPage, resultPage } from '../present/addresses.ts';
import { isPatientConfirmed } from '../work/confirm-patient.ts';
import { findOwnOrder, findVisible, hasSubmitted } from '../work/find-requests.ts';
import { toChange, toNewOrder } from '../work/launch.ts';
import { hasDraft } from '../work/read-choice.ts';
import { recordView } from '../work/record-view.ts';
import type { Dependencies } from './dependencies.ts';
import type { ChoosingVisit, Visit } from './visit.ts';

/** An HTTP request for a page about a test request that the launch may see. */
export type RequestVisit = Visit & {
  readonly about: TestRequest;
  /** The catalogue of the laboratory to which the request was sent. */
  readonly catalogue: Catalogue;
};

/**
 * Creates the guard of the pages about the test request in the path. The guard throws ServiceError 404 if the
 * request does not exist or the launch cannot see it.
 */
export function ofRequest(dependencies: Dependencies): Guard<Visit, RequestVisit> {
  return async (visit) => {
    const about = await getRequest(visit, dependencies);
    return { ...visit, about, catalogue: dependencies.catalogues.ofRequest(about) };
  };
}

/**
 * Creates the guard of the pages that record samples. If the date of birth in the request differs from the
 * launch and nobody has confirmed the patient, the guard redirects to the page of the request, which asks.
 */
export function ofConfirmedPatient(
  dependencies: Pick<Dependencies, 'database'>,
): Guard<RequestVisit, RequestVisit> {
  return async (visit) =>
    (await isPatientConfirmed(dependencies, visit.context, visit.about))
      ? visit
      : toReport(visit, visit.about);
}

function toReport({ response, home }: Visit, request: TestRequest): undefined {
  redirect(response, reportPage(home, request));
}

/**
 * Creates the guard of the pages of a new order, with the catalogue of the launch's laboratory. After the
 * submission, the guard redirects to the result page, because a launch submits one order. It throws
 * ServiceError 404 if the laboratory has no catalogue.
 */
export function ofNewOrder(dependencies: Dependencies): Guard<Visit, ChoosingVisit> {
  const { catalogues, clock, timeZone } = dependencies;
  return async (visit) => {
    const submitted = await findOwnOrder(dependencies, visit.launchId);
    if (submitted !== undefined) {
      // If the user clicks "Submit and print" twice, the second response must print, too.
      const toPrint = queryOf(visit.request).has('print') ? '?print' : '';
      redirect(visit.response, `${resultPage(visit.home, submitted)}${toPrint}`);
      return undefined;
    }
    const catalogue = catalogues.find(visit.context.request.performer);
    if (catalogue === undefined) throw noCatalogueOfLaboratory();
    const choosing = toNewOrder(visit.context, catalogue, { now: clock.now(), timeZone });
    return { ...visit, ...choosing, base: visit.home };
  };
}

/**
 * Creates the guard of the pages that change a request, with the catalogue of the laboratory to which the
 * request was sent. The guard throws ServiceError 404, as `ofRequest` does, and 409 for a Complete request to
 * which this launch submitted nothing. It redirects as `ofConfirmedPatient` does.
 * @param shows whether the response to a form contains a part of the request
 */
export function ofChange(dependencies: Dependencies, { shows = true } = {}): Guard<Visit, ChoosingVisit> {
  const { catalogues, clock, timeZone } = dependencies;
  return async (visit) => {
    const request = await getRequest(visit, dependencies);
    if (request.status === 'Complete') {
      // If the form that completed the request is sent again, shows the result instead of an error.
      if (!(await hasSubmitted(dependencies, visit.launchId, request.guid))) throw requestComplete(request);
      redirect(visit.response, resultPage(visit.home, request));
      return undefined;
    }
    if (!(await isPatientConfirmed(dependencies, visit.context, request))) return toReport(visit, request);
    const moment = { now: clock.now(), timeZone };
    const choosing = toChange(visit.context, request, catalogues.ofRequest(request), moment);
    // The response to a form may show the request. Without a draft, this response is the launch's first view
    // of the request.
    const isReading = visit.request.method !== 'POST' || (shows && !(await hasDraft(dependencies, choosing)));
    if (isReading) await readRequest(visit, request, dependencies);
    return { ...visit, ...choosing, base: `${visit.home}requests/${request.guid}/tests/` };
  };
}

/** Finds the request in the path. Events then name its patient, who may not be the launch's patient. */
async function getRequest(
  visit: Visit,
  dependencies: Pick<Dependencies, 'database' | 'pseudonyms'>,
): Promise<TestRequest> {
  const { context, call } = visit;
  const found = await findVisible(dependencies, context, textParameter(visit, 'guid'));
  if (found === undefined) throw requestNotFound();
  const patient = dependencies.pseudonyms.ofPatient(found.parties.patient);
  if (patient !== undefined) call.concern({ patient });
  return found;
}

/**
 * Returns whether a user will read the response. The response to HEAD has no body.
 * @throws ServiceError 400 for a prefetch, a prerender or a preview, whose response could be shown later
 * without an audit event
 */
export function isRead(visit: Pick<Visit, 'request'>): boolean {
  assertNotSpeculative(visit);
  return visit.request.method !== 'HEAD';
}

/** Rejects a prefetch, prerender or preview of a page. @throws ServiceError 400, as `isRead` does */
export function assertNotSpeculative({ request }: Pick<Visit, 'request'>): void {
  if (isSpeculative(request)) throw speculativeReading();
}

/**
 * If a user will read the response, stores the audit event of the view before the response is sent. The audit
 * trail therefore contains every view.
 * @throws ServiceError 400, as `isRead` does
 */
export async function readRequest(
  visit: Visit,
  { guid }: Pick<TestRequest, 'guid'>,
  dependencies: Pick<Dependencies, 'database' | 'nudge'>,
): Promise<void> {
  if (!isRead(visit)) return;
  await recordView(dependencies, visit, guid);
  dependencies.nudge();
}
