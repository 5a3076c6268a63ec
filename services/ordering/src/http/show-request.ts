import type { ActionRule } from '../domain/action-rules.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import { samplesOf } from '../domain/record-samples.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { requestPage, resultPage } from '../present/addresses.ts';
import { presentHistory, presentRequest } from '../present/request-report.ts';
import type { WriteTime } from '../present/written-time.ts';
import type { OrderingDatabase } from '../store/database.ts';
import { submissionsTo } from '../store/submissions.ts';
import { type RequestHandler, recordView, type ViewNeeds } from './reading.ts';
import type { Show } from './show.ts';
import type { Visit } from './visit.ts';

type ShowRequestNeeds = ViewNeeds & {
  readonly catalogue: Catalogue;
  readonly database: OrderingDatabase;
  readonly write: WriteTime;
  readonly show: Show;
};

/** `GET /oltr/{launchId}/requests/{guid}`: the report of one request, which only reads (OLTR: PatientReport). */
export function showRequest(needs: ShowRequestNeeds): RequestHandler {
  const { catalogue, database, write, show } = needs;
  return async (visit, request) => {
    const { home, rule } = visit;
    await recordView(visit, request, needs);
    const history = await submissionsTo(database, request.guid);
    show(visit, 'request.njk', {
      about: request,
      guid: request.guid,
      report: presentRequest(request, { catalogue, write }),
      history: presentHistory(history, write),
      hasLabels: samplesOf(request).length > 0,
      back: backLink(visit, request),
      change: changeLink(home, rule, request),
      ...(changeName(rule) === undefined || request.status === 'Incomplete'
        ? {}
        : { submittedAt: write(request.updatedAt) }),
    });
  };
}

/** To the list of the launch; a launch that has none made the request, and goes back to what it submitted. */
function backLink({ home, rule }: Visit, request: TestRequest) {
  return rule.lists.length > 0
    ? { href: `${home}requests`, text: 'Back to the list of requests' }
    : { href: resultPage(home, request), text: 'Back to the submitted order' };
}

function changeLink(home: string, rule: ActionRule, request: TestRequest) {
  const text = changeName(rule);
  return text === undefined || request.status === 'Complete'
    ? undefined
    : { href: requestPage(home, rule, request), text };
}

/** What the action came to do to a request, if it may. */
function changeName({ may }: ActionRule): string | undefined {
  if (may.includes('change-tests')) return 'Change tests';
  return may.includes('record-samples') ? 'Record samples' : undefined;
}
