import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { localDay } from '@clinical-launch/contracts/time';
import { appendToOutbox } from '@clinical-launch/storage/sql-outbox';
import { type ActionRule, actionRules } from '../domain/action-rules.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import { filterTerms, type ListSearch, overdueSince, periodOf, similarSince } from '../domain/list-search.ts';
import { abbreviationsOf, type RequestSearch, readRequestSearch } from '../domain/request-search.ts';
import type { RequestStatus } from '../domain/test-request.ts';
import { visibilityUnder } from '../store/keys.ts';
import { findListSearch } from '../store/list-searches.ts';
import { type ListQuery, type RequestPage, readRequestPage } from '../store/request-lists.ts';
import { findRequesters, type Requester } from '../store/requesters.ts';
import type { Launch, Moment, WorkDependencies } from './launch.ts';

type ListReading = {
  /** The catalogue of the launch's laboratory; undefined if the laboratory has no catalogue. */
  readonly catalogue: Catalogue | undefined;
  /** The cursor of the page; absent for the newest requests. */
  readonly from: ListQuery['from'];
  /** Whether a user will read the page. Only then is an audit event stored. */
  readonly isRead: boolean;
};

/** A page of a launch's list and its search. For the list of a practice, also the requesters to filter by. */
export type ReadList = {
  readonly list: RequestPage;
  readonly search: ListSearch;
  readonly requesters: readonly Requester[];
};

/**
 * Reads a page of the requests that a launch can see. If a user will read the page, first stores an audit
 * event with the number of requests and the pseudonyms of their patients.
 */
export async function readList(
  { database, pseudonyms, clock, timeZone }: Omit<WorkDependencies, 'sealer'>,
  { context, call }: Launch,
  { isRead, ...reading }: ListReading,
): Promise<ReadList> {
  const { launchId, request } = context;
  const rule = actionRules[request.action];
  const search = await findListSearch(database, launchId);
  const moment = { now: clock.now(), timeZone };
  const query = listQueryOf(context, { ...reading, rule, search, moment });
  const list = await database.transaction().execute(async (tx) => {
    const page = await readRequestPage(tx, query);
    const shown = [...page.requests, ...page.similar];
    const named = shown.flatMap(({ parties }) => pseudonyms.ofPatient(parties.patient) ?? []);
    const patients = [...new Set(named)];
    const about = { launchId, action: request.action, orders: shown.length, patients };
    await appendToOutbox(tx, isRead ? [call.event('orders.listed.v1', about)] : []);
    return page;
  });
  const requesters = rule.sees === 'practice' ? await findRequesters(database, query.visibility) : [];
  return { list, search, requesters };
}

type Listing = Pick<ListReading, 'catalogue' | 'from'> & {
  readonly rule: ActionRule;
  readonly search: ListSearch;
  readonly moment: Moment;
};

/** Returns the query for a launch's list, with its search and its filters. */
export function listQueryOf(
  context: LaunchContext,
  { rule, search: { text, priority, filters }, catalogue, from, moment }: Listing,
): ListQuery {
  const { now, timeZone } = moment;
  const typed = readRequestSearch(text, {
    ...(catalogue && { abbreviations: abbreviationsOf(catalogue) }),
    today: localDay(now, timeZone),
  });
  const search = narrowed(typed, filterTerms(filters));
  const { since, before } = periodOf(filters, moment);
  return {
    visibility: visibilityUnder(rule.sees, context),
    statuses: statusesOf(rule.lists, filters.status),
    ...withoutUndefined({ priority }),
    ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
    ...(before === undefined ? {} : { before: new Date(before).toISOString() }),
    ...withoutUndefined({ search }),
    ...(rule.hidesElsewhere && filters.status !== 'elsewhere'
      ? { hidesElsewhereSince: new Date(overdueSince(now)).toISOString() }
      : {}),
    similarSince: new Date(similarSince(now)).toISOString(),
    ...withoutUndefined({ from }),
  };
}

/** Adds the terms of filters to a search. A search that consists of punctuation still finds no request. */
function narrowed(search: RequestSearch | undefined, terms: RequestSearch): RequestSearch | undefined {
  if (search === undefined) return terms.length === 0 ? undefined : terms;
  return search.length === 0 ? [] : [...search, ...terms];
}

/**
 * Returns the statuses to list. Overdue requests, and requests that another place collects, are Incomplete.
 * Ignores a status outside the list.
 */
function statusesOf(
  lists: readonly RequestStatus[],
  chosen: ListSearch['filters']['status'],
): readonly RequestStatus[] {
  const status = chosen === 'overdue' || chosen === 'elsewhere' ? 'Incomplete' : chosen;
  return status !== undefined && lists.includes(status) ? [status] : lists;
}
