import { guidForm } from '@clinical-launch/contracts/schema';
import { redirect } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import { maxSearchLength } from '../domain/choice.ts';
import { withoutControls } from '../domain/draft.ts';
import { type ListFilters, type ListSearch, maxCount, pageSize, recentDays } from '../domain/list-search.ts';
import type { Priority, TestRequest } from '../domain/test-request.ts';
import { faultyForm, pageNotFound } from '../errors.ts';
import { requestPage } from '../present/addresses.ts';
import { listTexts, presentFilters } from '../present/list-filters.ts';
import { presentList } from '../present/list-model.ts';
import { findReferenced } from '../work/find-in-list.ts';
import { findOthersUnderNumber } from '../work/find-requests.ts';
import { readList } from '../work/read-list.ts';
import { storeSearch } from '../work/store-search.ts';
import type { Dependencies } from './dependencies.ts';
import { isRead } from './page-guards.ts';
import { readLaunchForm, type Visit } from './visit.ts';

/**
 * Shows the launch's list of requests, newest first: `GET /oltr/{launchId}/requests`. `?before={guid}` shows
 * requests older than this request, and `?after={guid}` newer requests. With `?choose`, the page states that
 * the launch can see no request with its originating id. With `?nothing-ticked`, it states that the user
 * ticked no request before printing labels.
 */
export function listRequests(dependencies: Dependencies): Handler<Visit> {
  return async (visit) => {
    const { catalogues, write, show, nudge } = dependencies;
    const { rule, home } = visit;
    const { patient } = visit.context.request;
    const texts = getTexts(visit);
    const address = queryOf(visit.request);
    const catalogue = catalogues.find(visit.context.request.performer);
    const from = cursorOf(address, 'before', 'older') ?? cursorOf(address, 'after', 'newer');
    const writing = { write, catalogueOf: (request: TestRequest) => catalogues.ofRequest(request) };
    const reading = { catalogue, from, isRead: isRead(visit) };
    const { list, search, requesters } = await readList(dependencies, visit, reading);
    nudge();
    show(visit, 'list.njk', {
      texts,
      otherBirths: await findOthersUnderNumber(dependencies, visit.context),
      ...presentList({ list, search, rule, home, patient, writing, limits: { pageSize, maxCount } }),
      filters: presentFilters({ search, rule, catalogue, requesters }),
      maxSearchLength,
      isNothingTicked: address.has('nothing-ticked'),
      mustChoose: rule.opens === 'named-request' && address.has('choose'),
    });
  };
}

/**
 * Stores the search of the list, so that it never appears in a URL: `POST /oltr/{launchId}/requests`. If the text
 * is the reference of one request, as a scanner types it, opens this request and keeps the search of the list.
 */
export function searchRequests(dependencies: Dependencies): Handler<Visit> {
  return async (visit) => {
    // Throws if the action has no list.
    getTexts(visit);
    const search = readListForm(await readLaunchForm(visit));
    const scanned = await findReferenced(dependencies, visit.context, search.text);
    if (scanned !== undefined) return redirect(visit.response, requestPage(visit.home, visit.rule, scanned));
    await storeSearch(dependencies, visit.launchId, search);
    redirect(visit.response, `${visit.home}requests#found`);
  };
}

/** Returns the texts of the action's list. @throws ServiceError 404 for an action without a list */
function getTexts({ rule, context }: Visit) {
  const { action } = context.request;
  if (action === 'OrderTest' || rule.lists.length === 0) throw pageNotFound();
  return listTexts[action];
}

/**
 * Reads the cursor of a page: the GUID of the request before or after the page. For an invalid GUID, or a
 * request that the launch cannot see, the list shows its first page. This does not reveal whether the request
 * exists.
 */
function cursorOf(address: URLSearchParams, name: string, go: 'older' | 'newer') {
  const guid = address.get(name) ?? '';
  return guidForm.test(guid) ? { guid, go } : undefined;
}

const priorities = { urgent: true, routine: true } as const satisfies Record<Priority, true>;
const statuses = {
  Incomplete: true,
  Complete: true,
  overdue: true,
  elsewhere: true,
} as const satisfies Record<NonNullable<ListFilters['status']>, true>;

/** The maximum length of a filter. Every code that a page offers is shorter. */
const maxChoiceLength = 400;

/**
 * Reads the search of a list.
 * @throws ServiceError 400 for a form that no page sends
 */
function readListForm(form: URLSearchParams): ListSearch {
  const action = form.get('action') ?? 'search';
  if (action === 'clear') return { text: '', filters: {} };
  if (action !== 'search') throw faultyForm();
  const text = line(form, 'q').replace(/\s+/g, ' ').trim().slice(0, maxSearchLength);
  const priority = choiceOf(form, 'priority', priorities);
  return { text, ...(priority && { priority }), filters: readFilters(form) };
}

function readFilters(form: URLSearchParams): ListFilters {
  const day = choiceOf(form, 'day', recentDays);
  const status = choiceOf(form, 'status', statuses);
  const typed = (name: 'test' | 'laboratory' | 'requester') => {
    const value = line(form, name).trim();
    if (value.length > maxChoiceLength) throw faultyForm();
    return value === '' ? {} : { [name]: value };
  };
  return {
    ...(day && { day }),
    ...typed('test'),
    ...(status && { status }),
    ...typed('laboratory'),
    ...typed('requester'),
  };
}

const line = (form: URLSearchParams, name: string) => withoutControls(form.get(name) ?? '');

/** Reads an option of a list box. Returns undefined for "any", or if the form does not contain the field. */
function choiceOf<Choice extends string>(
  form: URLSearchParams,
  name: string,
  choices: Readonly<Record<Choice, unknown>>,
): Choice | undefined {
  const value = form.get(name) ?? 'any';
  if (value === 'any' || value === '') return undefined;
  if (!isChoice(value, choices)) throw faultyForm();
  return value;
}

const isChoice = <Choice extends string>(
  value: string,
  choices: Readonly<Record<Choice, unknown>>,
): value is Choice => Object.hasOwn(choices, value);
