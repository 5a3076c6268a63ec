import { redirect } from '@clinical-launch/http/answer';
import { type Guard, textParameter } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import type { Catalogue } from '../domain/catalogue.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { noCatalogueOfLaboratory, requestComplete, requestNotFound } from '../errors.ts';
import { resultPage } from '../present/addresses.ts';
import { findInSight, findOwnOrder, hasSubmitted } from '../work/find-requests.ts';
import { toChange, toNewOrder } from '../work/launch.ts';
import { hasDraft } from '../work/read-choice.ts';
import type { Dependencies } from './dependencies.ts';
import { readRequest } from './reading.ts';
import type { ChoosingVisit, Visit } from './visit.ts';

/** A visit to the page of a request that the launch may see. */
export type RequestVisit = Visit & {
  readonly about: TestRequest;
  /** The catalogue of the laboratory that the request was sent to. */
  readonly catalogue: Catalogue;
};

/**
 * Creates the guard of the pages of the request in the path. It throws ServiceError 404 if the request does
 * not exist or this launch cannot see it.
 */
export function ofRequest(dependencies: Dependencies): Guard<Visit, RequestVisit> {
  return async (visit) => {
    const about = await getRequest(visit, dependencies);
    return { ...visit, about, catalogue: dependencies.catalogues.ofRequest(about) };
  };
}

/**
 * Creates the guard of the pages of a new order, with the catalogue of the launch's laboratory. After the
 * submission, it redirects to the result, because a launch submits one order. It throws ServiceError 404 if
 * there is no such catalogue.
 */
export function ofNewOrder(dependencies: Dependencies): Guard<Visit, ChoosingVisit> {
  const { catalogues, clock, timeZone } = dependencies;
  return async (visit) => {
    const submitted = await findOwnOrder(dependencies, visit.launchId);
    if (submitted !== undefined) {
      // A second click on "Submit and print" must print, too.
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
 * Creates the guard of the same pages for the change of a request, with the catalogue of the laboratory that
 * it was sent to. It throws ServiceError 404 as `ofRequest`, 409 if the request is Complete.
 * @param shows whether the response to a form contains a part of the request
 */
export function ofChange(dependencies: Dependencies, { shows = true } = {}): Guard<Visit, ChoosingVisit> {
  const { catalogues, clock, timeZone } = dependencies;
  return async (visit) => {
    const request = await getRequest(visit, dependencies);
    if (request.status === 'Complete') {
      // The form that completed the request may be sent twice.
      if (!(await hasSubmitted(dependencies, visit.launchId, request.guid))) throw requestComplete();
      redirect(visit.response, resultPage(visit.home, request));
      return undefined;
    }
    const moment = { now: clock.now(), timeZone };
    const choosing = toChange(visit.context, request, catalogues.ofRequest(request), moment);
    // The response to a form contains the panel, so a form without a previous page is the first view.
    const isReading = visit.request.method !== 'POST' || (shows && !(await hasDraft(dependencies, choosing)));
    if (isReading) await readRequest(visit, request, dependencies);
    return { ...visit, ...choosing, base: `${visit.home}requests/${request.guid}/tests/` };
  };
}

/** Attributes events to the patient of the request, who may not be the patient of the launch. */
async function getRequest(
  visit: Visit,
  dependencies: Pick<Dependencies, 'database' | 'pseudonyms'>,
): Promise<TestRequest> {
  const { context, call } = visit;
  const found = await findInSight(dependencies, context, textParameter(visit, 'guid'));
  if (found === undefined) throw requestNotFound();
  const patient = dependencies.pseudonyms.ofPatient(found.parties.patient);
  if (patient !== undefined) call.concern({ patient });
  return found;
}
