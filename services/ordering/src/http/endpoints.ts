import { guidForm } from '@clinical-launch/contracts/schema';
import { redirect, sendText, setHeaders } from '@clinical-launch/http/answer';
import {
  behind,
  type Endpoint,
  endpoint,
  type Guard,
  type Handler,
  textParameter,
} from '@clinical-launch/http/endpoint';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import { pageNotFound } from '../errors.ts';
import type { Dependencies } from './dependencies.ts';
import { pageDialect } from './error-page.ts';
import { inLaunch, requirePermission } from './in-launch.ts';
import { postNewRequest, postOfferedDraft } from './left-request.ts';
import { listRequests, searchRequests } from './list-requests.ts';
import { ofChange, ofConfirmedPatient, ofNewOrder, ofRequest, type RequestVisit } from './page-guards.ts';
import { printLabels, printTickedLabels } from './print-labels.ts';
import { printForm } from './print-request.ts';
import { postReview, postReviewDraft, showReview } from './review-page.ts';
import { postSamples, showSamples } from './samples-page.ts';
import { confirmSession, extendSession, openLaunch, signOut } from './session.ts';
import { postSamePatient, showOrder, showRequest } from './show-request.ts';
import { postChoice, postChosenPanel, postMatches, showChoice } from './tests-page.ts';
import type { ChoosingVisit, Visit } from './visit.ts';
import { checkWindow, chooseWindow, inAnyWindow, inChosenWindow } from './window.ts';

const samples = '/requests/:guid/samples';
const tests = '/requests/:guid/tests';

/** Creates the endpoints below `/oltr`, and the accessibility statement. */
export function createEndpoints(dependencies: Dependencies): Endpoint[] {
  const { pages } = dependencies;
  const shared = { source: '/ordering', dialect: pageDialect(pages) };
  const showTemplate =
    (template: string): Handler =>
    ({ response }) => {
      setHeaders(response, pageHeaders({ scriptHashes: [pages.scriptHash] }));
      sendText(response, 'text/html', pages.render(template, {}));
    };
  const [start, statement] = [showTemplate('start.njk'), showTemplate('accessibility.njk')];
  return [
    ...['/oltr', '/oltr/'].map((path) => endpoint({ ...shared, path, methods: { GET: start } })),
    endpoint({ ...shared, path: '/accessibility', methods: { GET: statement } }),
    endpoint({ ...shared, path: '/oltr/:launchId', methods: { GET: toLaunch } }),
    ...launchPages(dependencies).map(([path, methods]) =>
      endpoint({ ...shared, guard: inLaunch(dependencies), path: `/oltr/:launchId${path}`, methods }),
    ),
    endpoint({
      ...shared,
      guard: inLaunch(dependencies, {}),
      path: '/oltr/:launchId/session-state',
      methods: { GET: confirmSession },
    }),
  ];
}

/**
 * Redirects the path of a launch without a final slash to the first page of the launch, whose path has the
 * slash.
 */
const toLaunch: Handler = (exchange) => {
  const launchId = textParameter(exchange, 'launchId');
  if (!guidForm.test(launchId)) throw pageNotFound();
  redirect(exchange.response, `/oltr/${launchId}/`, 308);
};

type Methods = Readonly<Partial<Record<'GET' | 'POST', Handler<Visit>>>>;

/** Returns the path below `/oltr/{launchId}` and the methods of each endpoint of a launch. */
function launchPages(dependencies: Dependencies): readonly (readonly [path: string, methods: Methods])[] {
  const inOrder = (handle: Handler<ChoosingVisit>) =>
    behind(requirePermission('order'), behind(ofNewOrder(dependencies), handle));
  const inChange = (handle: Handler<ChoosingVisit>, guard: Guard<Visit, ChoosingVisit> = showing) =>
    behind(requirePermission('change-tests'), behind(guard, handle));
  const showing = ofChange(dependencies);
  const silent = ofChange(dependencies, { shows: false });
  const openChange = (handle: Handler<ChoosingVisit>) =>
    behind(requirePermission('change-tests'), behind(inChosenWindow(dependencies), behind(showing, handle)));
  const ofConfirmed = ofConfirmedPatient(dependencies);
  const openSamples = (handle: Handler<RequestVisit>) =>
    behind(
      requirePermission('record-samples'),
      behind(inChosenWindow(dependencies), behind(ofRequest(dependencies), behind(ofConfirmed, handle))),
    );
  const inRequest = (handle: Handler<RequestVisit>) =>
    behind(requirePermission('read'), behind(ofRequest(dependencies), handle));
  const inSamples = (handle: Handler<RequestVisit>) =>
    behind(requirePermission('record-samples'), behind(ofRequest(dependencies), behind(ofConfirmed, handle)));

  const choose = postChoice(dependencies);
  const choosePanel = postChosenPanel(dependencies);
  const match = postMatches(dependencies);
  const [review, submit] = [showReview(dependencies), postReview(dependencies)];
  const autosaveReview = postReviewDraft(dependencies);
  return [
    ['/', { GET: openLaunch(dependencies), POST: inOrder(choose) }],
    ['/chosen', { POST: inOrder(choosePanel) }],
    ['/matches', { POST: inOrder(match) }],
    ['/new-request', { POST: inOrder(postNewRequest(dependencies)) }],
    ['/left-request', { POST: inOrder(postOfferedDraft(dependencies)) }],
    ['/review', { GET: inOrder(behind(inChosenWindow(dependencies), review)), POST: inOrder(submit) }],
    ['/review/draft', { POST: inOrder(autosaveReview) }],

    [`${tests}/`, { GET: openChange(showChoice(dependencies)), POST: inChange(choose) }],
    [`${tests}/chosen`, { POST: inChange(choosePanel) }],
    [`${tests}/matches`, { POST: inChange(match, silent) }],
    [`${tests}/review`, { GET: openChange(review), POST: inChange(submit) }],
    [`${tests}/review/draft`, { POST: inChange(autosaveReview, silent) }],

    [samples, { GET: openSamples(showSamples(dependencies)), POST: inSamples(postSamples(dependencies)) }],

    [
      '/requests',
      {
        GET: behind(inAnyWindow(dependencies), listRequests(dependencies)),
        POST: searchRequests(dependencies),
      },
    ],
    ['/requests/:guid', { GET: behind(inAnyWindow(dependencies), inRequest(showRequest(dependencies))) }],
    ['/requests/:guid/same-patient', { POST: inRequest(postSamePatient(dependencies)) }],
    ['/requests/:guid/form', { GET: inRequest(printForm(dependencies)) }],
    ['/requests/:guid/labels', { GET: inRequest(printLabels(dependencies)) }],
    ['/labels', { GET: behind(requirePermission('read'), printTickedLabels(dependencies)) }],

    ['/orders/:guid', { GET: behind(inAnyWindow(dependencies), showOrder(dependencies)) }],
    ['/window', { GET: checkWindow(dependencies), POST: chooseWindow(dependencies) }],
    ['/session', { POST: extendSession }],
    ['/sign-out', { POST: signOut(dependencies) }],
  ];
}
