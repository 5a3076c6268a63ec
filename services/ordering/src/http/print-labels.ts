import { redirect } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import { readSentCookies, setCookie } from '@clinical-launch/pages/cookies';
import { pageSize } from '../domain/list-search.ts';
import { labelStockOf, labelStocks, startOf } from '../domain/printing.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { faultyForm, requestNotFound } from '../errors.ts';
import { presentLabelStocks, presentLabels } from '../present/label-sheets.ts';
import { presentPrinting } from '../present/print-sheets.ts';
import { referencesOf } from '../present/request-caption.ts';
import { countPrints } from '../work/count-print.ts';
import { findAllVisible } from '../work/find-requests.ts';
import type { Dependencies } from './dependencies.ts';
import { isRead, type RequestVisit } from './page-guards.ts';
import type { Visit } from './visit.ts';

/**
 * Returns the name of the cookie that stores the chosen label stock in the browser for a year. The script
 * `label-stock.js` also sets the cookie. The cookie contains no patient data.
 */
const stockCookie = (isSecure: boolean) => (isSecure ? '__Secure-label-stock' : 'label-stock');
const yearSeconds = 365 * 86_400;

/** Prints the labels of a request's samples: `GET /oltr/{launchId}/requests/{guid}/labels`. */
export function printLabels(dependencies: Dependencies): Handler<RequestVisit> {
  return async (visit) => {
    const { about } = visit;
    const labels = await readLabels(visit, dependencies, [about]);
    const back = { href: `${visit.home}requests/${about.guid}`, text: 'Back to the request' };
    dependencies.show(visit, 'print-labels.njk', { ...labels, about, back });
  };
}

/**
 * Prints the labels of the requests that the user ticked in a list: `GET
 * /oltr/{launchId}/labels?request={guid}&request={guid}`.
 * @throws ServiceError 400 for more requests than a page of the list contains, 404 if the launch cannot see
 * one of the requests
 */
export function printTickedLabels(dependencies: Dependencies): Handler<Visit> {
  return async (visit) => {
    const { home, context, request, response } = visit;
    const guids = [...new Set(queryOf(request).getAll('request'))];
    if (guids.length === 0) return redirect(response, `${home}requests?nothing-ticked`);
    if (guids.length > pageSize) throw faultyForm();
    const requests = await findAllVisible(dependencies, context, guids);
    if (requests === undefined) throw requestNotFound();
    const labels = await readLabels(visit, dependencies, requests);
    const back = { href: `${home}requests`, text: 'Back to the list of requests' };
    dependencies.show(visit, 'print-labels.njk', { ...labels, ticked: guids, back });
  };
}

/**
 * Reads the labels of visible requests for the chosen stock. Stores a print for each request with a label,
 * because a page with labels counts as a print.
 */
export async function readLabels(visit: Visit, dependencies: Dependencies, requests: readonly TestRequest[]) {
  const { catalogues, write, nudge } = dependencies;
  const papers = await Promise.all(
    requests.map(async (request) => ({
      request,
      ...(await presentLabels(request, { catalogue: catalogues.ofRequest(request), write })),
    })),
  );
  const printed = papers.filter(({ sheets }) => sheets.length > 0).map(({ request }) => request);
  const printings = isRead(visit)
    ? await countPrints(dependencies, visit, { requests: printed, what: 'labels' })
    : [];
  nudge();
  const { name } = visit.context.request.author;
  return {
    sheets: papers.flatMap(({ sheets }) => sheets),
    byHand: papers.flatMap(({ byHand }) => byHand),
    reprints: printings
      .map(({ request, ...printing }) => ({
        reference: referencesOf(request).join(', '),
        ...presentPrinting(printing, name, write),
      }))
      .filter(({ before }) => before !== undefined),
    ...readStock(visit, dependencies),
  };
}

/** Reads the label stock from the URL or the cookie. Stores a stock from the URL in the cookie. */
function readStock({ request, response }: Visit, { isSecure }: Dependencies) {
  const address = queryOf(request);
  const chosen = address.get('stock');
  const name = stockCookie(isSecure);
  const stock = labelStockOf([chosen, ...readSentCookies(request, name)]);
  if (chosen === stock.id) {
    const options = { path: '/oltr/', maxAge: yearSeconds, sameSite: 'lax', secure: isSecure } as const;
    setCookie(response, { name, value: stock.id, ...options });
  }
  const start = startOf(address.get('start'), stock);
  return { stock, start, ...presentLabelStocks(labelStocks, { stock, start }) };
}
