import type { Handler } from '@clinical-launch/http/endpoint';
import { samplesOf } from '../domain/record-samples.ts';
import { presentReportLinks } from '../present/report-links.ts';
import { presentHistory, presentRequest } from '../present/request-report.ts';
import { historyOf } from '../work/find-requests.ts';
import type { Dependencies } from './dependencies.ts';
import type { RequestVisit } from './page-guards.ts';
import { readRequest } from './reading.ts';

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
    show(visit, 'request.njk', {
      about,
      guid: about.guid,
      report: presentRequest(about, { catalogue, write }),
      history: presentHistory(history, write),
      hasLabels: samplesOf(about).length > 0,
      ...presentReportLinks({ request: about, rule, home }, write),
    });
  };
}
