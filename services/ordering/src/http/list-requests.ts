import { redirect } from '@clinical-launch/http/answer';
import { guidForm } from '@clinical-launch/http/call';
import type { Handler } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import type { Catalogue } from '../domain/catalogue.ts';
import { maxSearchLength } from '../domain/choice.ts';
import { filterTerms, type ListSearch, periodOf } from '../domain/list-search.ts';
import { abbreviationsOf, type RequestSearch, readRequestSearch } from '../domain/request-search.ts';
import type { RequestStatus, TestRequest } from '../domain/test-request.ts';
import { pageNotFound } from '../errors.ts';
import { presentFilters } from '../present/list-filters.ts';
import { presentList } from '../present/list-model.ts';
import { listTexts } from '../present/list-texts.ts';
import { sightOf } from '../store/keys.ts';
import { findListSearch } from '../store/list-searches.ts';
import { type ListQuery, maxCount, pageSize } from '../store/request-lists.ts';
import { findRequesters } from '../store/requesters.ts';
import { keepListSearch } from '../work/keep-list-search.ts';
import { readList } from '../work/read-list.ts';
import type { Dependencies } from './dependencies.ts';
import { readListForm } from './list-form.ts';
import { isRead } from './reading.ts';
import { readLaunchForm, type Visit } from './visit.ts';

/**
 * Shows the requests that the launch sees and its action lists, newest first:
 * `GET /oltr/{launchId}/requests`. `?before=` and `?after=` a request's GUID lead to older and newer
 * requests; `?choose` means that the caller's identifier matches none of them;
 * `?nothing-ticked`, that labels of none were to be printed.
 */
export function listRequests(dependencies: Dependencies): Handler<Visit> {
  return async (visit) => {
    const { database, catalogues, write, show, nudge } = dependencies;
    const { launchId, rule, home } = visit;
    const texts = getTexts(visit);
    const address = queryOf(visit.request);
    const search = await findListSearch(database, launchId);
    const catalogue = catalogues.find(visit.context.request.performer);
    const query = listQueryOf(visit, { search, catalogue, address, ...momentOf(dependencies) });
    const writing = { write, catalogueOf: (request: TestRequest) => catalogues.ofRequest(request) };
    const list = await readList(dependencies, visit, { query, isRead: isRead(visit) });
    nudge();
    const requesters = rule.sees === 'practice' ? await findRequesters(database, query.sight) : [];
    show(visit, 'list.njk', {
      texts,
      ...presentList({ list, search, rule, home, writing, limits: { pageSize, maxCount } }),
      filters: presentFilters({ search, rule, catalogue, requesters }),
      maxSearchLength,
      isNothingTicked: address.has('nothing-ticked'),
      mustChoose: rule.opens === 'named-request' && address.has('choose'),
    });
  };
}

/**
 * Stores the search of the list, so that it never appears in an address: `POST /oltr/{launchId}/requests`.
 */
export function searchRequests(dependencies: Dependencies): Handler<Visit> {
  return async (visit) => {
    // An action without a list has no search.
    getTexts(visit);
    await keepListSearch(dependencies, visit.launchId, readListForm(await readLaunchForm(visit)));
    redirect(visit.response, `${visit.home}requests#found`);
  };
}

/** @throws ServiceError 404 for an action without a list */
function getTexts({ rule, context }: Visit) {
  const { action } = context.request;
  if (action === 'OrderTest' || rule.lists.length === 0) throw pageNotFound();
  return listTexts[action];
}

type Listing = {
  readonly search: ListSearch;
  /** Of the launch's laboratory, if it has one. */
  readonly catalogue: Catalogue | undefined;
  readonly address: URLSearchParams;
} & Moment;

/** `now`: milliseconds since 1970; `timeZone`: IANA name */
type Moment = { readonly now: number; readonly timeZone: string };

const momentOf = ({ clock, timeZone }: Dependencies): Moment => ({ now: clock.now(), timeZone });

function listQueryOf(
  { rule, context }: Visit,
  { search: { text, priority, filters }, catalogue, address, ...moment }: Listing,
): ListQuery {
  const search = narrowed(
    readRequestSearch(text, catalogue && abbreviationsOf(catalogue)),
    filterTerms(filters),
  );
  const from = cursorOf(address, 'before', 'older') ?? cursorOf(address, 'after', 'newer');
  const { since, before } = periodOf(filters, moment);
  return {
    sight: sightOf(context),
    statuses: statusesOf(rule.lists, filters.status),
    ...(priority === undefined ? {} : { priority }),
    ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
    ...(before === undefined ? {} : { before: new Date(before).toISOString() }),
    ...(search === undefined ? {} : { search }),
    ...(from === undefined ? {} : { from }),
  };
}

/** Adds the terms of filters to a search. A search of signs only still finds nothing. */
function narrowed(search: RequestSearch | undefined, terms: RequestSearch): RequestSearch | undefined {
  if (search === undefined) return terms.length === 0 ? undefined : terms;
  return search.length === 0 ? [] : [...search, ...terms];
}

/** Only Incomplete requests wait for samples. A status that the action does not list changes nothing. */
function statusesOf(
  lists: readonly RequestStatus[],
  chosen: ListSearch['filters']['status'],
): readonly RequestStatus[] {
  const status = chosen === 'overdue' ? 'Incomplete' : chosen;
  return status !== undefined && lists.includes(status) ? [status] : lists;
}

/**
 * Reads the GUID of the request at which a page begins. It reveals nothing; an invalid GUID, or one out of
 * sight, means the first page.
 */
function cursorOf(address: URLSearchParams, name: string, go: 'older' | 'newer') {
  const guid = address.get(name) ?? '';
  return guidForm.test(guid) ? { guid, go } : undefined;
}
