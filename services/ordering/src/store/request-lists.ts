import { sql } from 'kysely';
import { maxCount, pageSize } from '../domain/list-search.ts';
import { elsewhereWord, isWord, type RequestSearch, type SoughtWord } from '../domain/request-search.ts';
import { type Misspelt, misspeltIn, withOthers } from '../domain/similar-words.ts';
import type { TestRequest } from '../domain/test-request.ts';
import type { OrderingTransaction } from './database.ts';
import { isVisible, type Visibility } from './keys.ts';
import {
  countList,
  findKnown,
  findMatches,
  findNear,
  type ListFilter,
  type Page,
  type Place,
  readList,
} from './list-queries.ts';
import { differenceCondition, searchCondition } from './request-words.ts';
import { toTestRequest } from './test-requests.ts';

/**
 * The number of requests in which to search for a page of matches. If they do not contain enough matches, the
 * index of words finds all matches.
 */
const maxNear = 500;

export type ListQuery = ListFilter & {
  /** Absent if the list has no search. */
  readonly search?: RequestSearch;
  /** The time of the oldest request for which a search tolerates typing errors, as an ISO 8601 instant. */
  readonly similarSince: string;
  /** The cursor: the GUID of a request. If absent, or if the launch cannot see it, reads the newest page. */
  readonly from?: { readonly guid: string; readonly go: Page['go'] };
};

export type RequestPage = {
  /** Newest first. */
  readonly requests: readonly TestRequest[];
  /**
   * The number of requests on all pages, or `maxCount + 1` if there are more. Absent if a search fills a
   * page, because its matches are not counted.
   */
  readonly count?: number;
  readonly hasNewer: boolean;
  readonly hasOlder: boolean;
  /** The number of matching requests that the list hides (`hidesElsewhereSince`); absent if it hides none. */
  readonly hidden?: number;
  /** On the last page, the newest requests that match only with typing errors; at most one page. */
  readonly similar: readonly TestRequest[];
};

/**
 * Reads a page of a list. Reads a limited number of rows in the order of an index, even if the practice has
 * many requests. If the matches in these rows do not fill a page, reads all matches from the index of words.
 */
export async function readRequestPage(tx: OrderingTransaction, query: ListQuery): Promise<RequestPage> {
  // Prevents a sequential scan for a common word, and JIT compilation of a query that reads few rows.
  await sql`select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`.execute(tx);
  const { hidesElsewhereSince: hides, ...all } = query;
  if (hides === undefined || query.search?.length === 0) return readPage(tx, query);
  const { search = [], visibility, since = '' } = query;
  const condition = searchCondition([...search, [[isWord(elsewhereWord)]]], visibility);
  const hidden = { ...all, since: since > hides ? since : hides };
  const { count } = await findMatches(tx, hidden, { condition, go: 'older', limit: 1 });
  return { ...(await readPage(tx, query)), hidden: count };
}

async function readPage(tx: OrderingTransaction, { from, ...query }: ListQuery): Promise<RequestPage> {
  const place = from && (await findPlace(tx, query, from.guid));
  const go = place === undefined ? 'older' : (from?.go ?? 'older');
  // Reads one request more than a page contains, to find out whether there is another page.
  const { places, ...counted } = await findPlaces(tx, query, { place, go, limit: pageSize + 1 });
  // If no request is older, or the newer requests do not fill a page, reads the newest page.
  const isFirst = place !== undefined && places.length < (go === 'newer' ? pageSize : 1);
  if (isFirst) return readPage(tx, query);
  const hasMore = places.length > pageSize;
  const shown = places.slice(0, pageSize);
  const hasOlder = go === 'newer' || hasMore;
  return {
    ...counted,
    requests: await readRequests(tx, query, go === 'newer' ? shown.toReversed() : shown),
    hasNewer: go === 'newer' ? hasMore : place !== undefined,
    hasOlder,
    similar: hasOlder ? [] : await readRequests(tx, query, await findSimilar(tx, query)),
  };
}

/** Finds the newest requests that match only if typing errors are tolerated. */
async function findSimilar(tx: OrderingTransaction, query: ListQuery): Promise<readonly Place[]> {
  const { search = [], visibility, since = '', similarSince } = query;
  const misspelt = await knownOf(tx, visibility, misspeltIn(search));
  if (misspelt.every(({ others }) => others.length === 0)) return [];
  const condition = differenceCondition(withOthers(search, misspelt), search, visibility);
  const recent = { ...query, since: since > similarSince ? since : similarSince };
  return (await findMatches(tx, recent, { condition, go: 'older', limit: pageSize })).places;
}

/**
 * Removes each alternative that no request of the practice contains. A misspelt word has hundreds of
 * alternatives, of which a few remain. For the list of a patient, keeps all alternatives, because the list is
 * short and the index does not separate patients.
 */
async function knownOf(
  tx: OrderingTransaction,
  visibility: Visibility,
  misspelt: readonly Misspelt[],
): Promise<readonly Misspelt[]> {
  if (visibility.patient !== undefined || misspelt.length === 0) return misspelt;
  const conditionOf = (word: SoughtWord) => searchCondition([[[word]]], visibility);
  const known = await findKnown(
    tx,
    visibility,
    misspelt.flatMap(({ others }) => others.map(conditionOf)),
  );
  return misspelt.map(({ word, others }) => ({
    word,
    others: others.filter((other) => known.has(conditionOf(other))),
  }));
}

type FoundRequests = { readonly places: readonly Place[]; readonly count?: number };

async function findPlaces(tx: OrderingTransaction, query: ListQuery, page: Page): Promise<FoundRequests> {
  const { search } = query;
  if (search === undefined) {
    const places = await readList(tx, query, page);
    return { places, count: await countList(tx, query, maxCount + 1) };
  }
  // A search that consists of punctuation contains no words, so it matches no request.
  if (search.length === 0) return { places: [], count: 0 };
  const condition = searchCondition(search, query.visibility);
  // If the word is common, the next `maxNear` requests fill the page. If the word is rare, the index of words
  // is fast.
  const near = await findNear(tx, query, { ...page, condition, bound: maxNear });
  if (near.length > pageSize) return { places: near };
  const { places, count } = await findMatches(tx, query, { ...page, condition });
  return { places, count: Math.min(count, maxCount + 1) };
}

function findPlace(
  tx: OrderingTransaction,
  { visibility }: ListQuery,
  guid: string,
): Promise<Place | undefined> {
  return tx
    .selectFrom('test_requests')
    .select(['guid', 'created_at'])
    .where('guid', '=', guid)
    .where(isVisible(visibility))
    .executeTakeFirst();
}

async function readRequests(
  tx: OrderingTransaction,
  { visibility }: ListQuery,
  places: readonly Place[],
): Promise<TestRequest[]> {
  if (places.length === 0) return [];
  const guids = places.map(({ guid }) => guid);
  const rows = await tx
    .selectFrom('test_requests')
    .selectAll()
    .where('guid', 'in', guids)
    .where(isVisible(visibility))
    .execute();
  const requests = new Map(rows.map((row) => [row.guid, toTestRequest(row)]));
  return guids.flatMap((guid) => requests.get(guid) ?? []);
}
