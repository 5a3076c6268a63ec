import { redirect } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import { samplesOf } from '../domain/record-samples.ts';
import { notOfThisAction } from '../errors.ts';
import { reportPage, requestPage } from '../present/addresses.ts';
import { presentReportLinks } from '../present/report-links.ts';
import { presentHistory, presentRequest } from '../present/request-report.ts';
import { adviseIfWrong } from '../present/result-model.ts';
import { confirmPatient, isPatientConfirmed } from '../work/confirm-patient.ts';
import { historyOf } from '../work/find-requests.ts';
import type { Dependencies } from './dependencies.ts';
import type { RequestVisit } from './page-guards.ts';
import { readRequest } from './reading.ts';
import { readLaunchForm } from './visit.ts';

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
