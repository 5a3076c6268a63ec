import { guidForm, queryOf } from '@clinical-launch/service/http';
import type { Catalogue } from '../domain/catalogue.ts';
import { maxSearchLength } from '../domain/choice.ts';
import { withoutControls } from '../domain/draft.ts';
import type { ListSearch } from '../domain/list-search.ts';
import { abbreviationsOf, readRequestSearch } from '../domain/request-search.ts';
import type { Priority } from '../domain/test-request.ts';
import { faultyForm, pageNotFound } from '../errors.ts';
import { presentList } from '../present/list-model.ts';
import { listTexts } from '../present/list-texts.ts';
import { sightOf } from '../store/keys.ts';
import { findListSearch } from '../store/list-searches.ts';
import { type ListQuery, maxCount, pageSize } from '../store/request-lists.ts';
import { keepListSearch } from '../work/keep-list-search.ts';
import { readList } from '../work/read-list.ts';
import type { VisitHandler } from './launch-door.ts';
import { isRead } from './reading.ts';
import { readLaunchForm, type Visit } from './visit.ts';

/**
 * Shows the requests that the launch sees and its action lists, newest first:
 * `GET /oltr/{launchId}/requests`. `?before=` and `?after=` a request's GUID lead to older and newer
 * requests; `?choose` means that the caller's identifier matches none of them.
 */
export const listRequests: VisitHandler = async (visit, dependencies) => {
  const { database, catalogues, write, show, nudge } = dependencies;
  const { launchId, rule, home } = visit;
  const texts = getTexts(visit);
  const address = queryOf(visit.request);
  const search = await findListSearch(database, launchId);
  const catalogue = catalogues.find(visit.context.request.performer);
  const query = listQueryOf(visit, { search, catalogue, address });
  const list = await readList(dependencies, visit, { query, isRead: isRead(visit) });
  nudge();
  show(visit, 'list.njk', {
    texts,
    ...presentList({ list, search, rule, home, write, limits: { pageSize, maxCount } }),
    maxSearchLength,
    mustChoose: rule.opens === 'named-request' && address.has('choose'),
  });
};

/**
 * Stores the search of the list, so that it never appears in an address: `POST /oltr/{launchId}/requests`.
 */
export const searchRequests: VisitHandler = async (visit, dependencies) => {
  // An action without a list has no search.
  getTexts(visit);
  await keepListSearch(dependencies, visit.launchId, readSearch(await readLaunchForm(visit)));
  visit.response.redirect(303, `${visit.home}requests#found`);
};

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
};

function listQueryOf({ rule, context }: Visit, { search: stored, catalogue, address }: Listing): ListQuery {
  const { text, priority } = stored;
  const search = readRequestSearch(text, catalogue && abbreviationsOf(catalogue));
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
 * Reads the GUID of the request at which a page begins. It reveals nothing; an invalid GUID, or one out of
 * sight, means the first page.
 */
function cursorOf(address: URLSearchParams, name: string, go: 'older' | 'newer') {
  const guid = address.get(name) ?? '';
  return guidForm.test(guid) ? { guid, go } : undefined;
}

/** @throws ServiceError 400 for a button or a priority that the page does not have */
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
