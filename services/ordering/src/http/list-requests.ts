import { createEvent } from '@clinical-launch/contracts';
import { guidForm, queryOf } from '@clinical-launch/service';
import { maxSearchLength } from '../domain/choice.ts';
import { withoutControls } from '../domain/draft.ts';
import { readRequestSearch } from '../domain/request-search.ts';
import { requestStep } from '../domain/request-step.ts';
import type { Priority, TestRequest } from '../domain/test-request.ts';
import { faultyForm, pageNotFound } from '../errors.ts';
import { requestPage } from '../present/addresses.ts';
import { presentEntry } from '../present/list-entry.ts';
import { listTexts } from '../present/list-texts.ts';
import type { WriteTime } from '../present/written-time.ts';
import { sightOf } from '../store/keys.ts';
import type { ListSearch, ListSearches } from '../store/list-searches.ts';
import { type ListQuery, maxCount, pageSize, type RequestLists } from '../store/request-lists.ts';
import { isRead } from './reading.ts';
import type { Show } from './show.ts';
import { readLaunchForm, type Visit, type VisitHandler } from './visit.ts';

type ListNeeds = {
  readonly requestLists: RequestLists;
  readonly listSearches: ListSearches;
  readonly write: WriteTime;
  readonly show: Show;
  readonly nudge: () => void;
};

/**
 * `GET /oltr/{launchId}/requests`: the requests that the launch sees and its action lists, newest first. `?before=`
 * and `?after=` a request's GUID lead to older and newer ones; `?choose` says that the caller's identifier names none
 * of them.
 */
export function listRequests({ requestLists, listSearches, write, show, nudge }: ListNeeds): VisitHandler {
  return async (visit) => {
    const texts = textsOf(visit);
    const address = queryOf(visit.request);
    const search = await listSearches.find(visit.launchId);
    const page = await requestLists.read(listQueryOf(visit, search, address), (shown) =>
      isRead(visit) ? [listedEvent(visit, shown)] : [],
    );
    nudge();
    const { requests, count, hasNewer, hasOlder } = page;
    const isNarrowed = search.text !== '' || search.priority !== undefined;
    show(visit, 'list.njk', {
      texts,
      entries: requests.map((request) => presentRow(visit, request, write)),
      count: { text: describeCount(count), isOne: count === 1 },
      newer: hasNewer ? `requests?after=${requests[0]?.guid}` : undefined,
      older: hasOlder ? `requests?before=${requests.at(-1)?.guid}` : undefined,
      search,
      maxSearchLength,
      isNarrowed,
      isOfPractice: visit.rule.sees === 'practice',
      // A few requests are looked through sooner than searched.
      isSearchable: visit.rule.sees === 'practice' || isNarrowed || hasNewer || hasOlder,
      mustChoose: visit.rule.opens === 'named-request' && address.has('choose'),
    });
  };
}

/** `POST /oltr/{launchId}/requests`: narrows the list. What is looked for is kept here and never in an address. */
export function searchRequests({ listSearches }: Pick<ListNeeds, 'listSearches'>): VisitHandler {
  return async (visit) => {
    textsOf(visit);
    await listSearches.keep(visit.launchId, readSearch(await readLaunchForm(visit)));
    visit.response.redirect(303, `${visit.home}requests#found`);
  };
}

/** @throws ServiceError 404 for an action without a list. */
function textsOf({ rule, context }: Visit) {
  const { action } = context.request;
  if (action === 'OrderTest' || rule.lists.length === 0) throw pageNotFound();
  return listTexts[action];
}

function listQueryOf(
  { rule, context }: Visit,
  { text, priority }: ListSearch,
  address: URLSearchParams,
): ListQuery {
  const search = readRequestSearch(text);
  const from = cursorOf(address, 'before', 'older') ?? cursorOf(address, 'after', 'newer');
  return {
    sight: sightOf(context),
    statuses: rule.lists,
    ...(priority === undefined ? {} : { priority }),
    ...(search === undefined ? {} : { search }),
    ...(from === undefined ? {} : { from }),
  };
}

/**
 * A request's GUID says where a page begins and gives nothing away; one that is none, or out of sight, means the
 * first page.
 */
function cursorOf(address: URLSearchParams, name: string, go: 'older' | 'newer') {
  const guid = address.get(name) ?? '';
  return guidForm.test(guid) ? { guid, go } : undefined;
}

/** @throws ServiceError 400 for a button or a priority that the page does not have. */
function readSearch(form: URLSearchParams): ListSearch {
  const action = form.get('action') ?? 'search';
  if (action === 'clear') return { text: '' };
  const priority = form.get('priority') ?? 'any';
  if (action !== 'search' || !isPriority(priority)) throw faultyForm();
  const text = withoutControls(form.get('q') ?? '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, maxSearchLength);
  return { text, ...(priority === 'any' ? {} : { priority }) };
}

function isPriority(value: string): value is Priority | 'any' {
  return value === 'any' || value === 'urgent' || value === 'routine';
}

function listedEvent({ origin, launchId, context }: Visit, orders: number) {
  const { action } = context.request;
  return createEvent('orders.listed.v1', origin, { launchId, action, orders });
}

function describeCount(count: number | undefined): string {
  if (count === undefined) return `More than ${pageSize}`;
  return count > maxCount ? `${maxCount.toLocaleString('en-GB')}+` : count.toLocaleString('en-GB');
}

const stepTexts = {
  view: 'View request',
  'change-tests': 'Change tests',
  'record-samples': 'Record samples',
} as const;

function presentRow({ home, rule }: Visit, request: TestRequest, write: WriteTime) {
  return {
    ...presentEntry(request, write),
    href: requestPage(home, rule, request),
    step: stepTexts[requestStep(rule, request)],
  };
}
