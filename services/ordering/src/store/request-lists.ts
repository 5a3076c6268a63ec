import { sql } from 'kysely';
import { maxCount, pageSize } from '../domain/list-search.ts';
import type { RequestSearch } from '../domain/request-search.ts';
import type { TestRequest } from '../domain/test-request.ts';
import type { OrderingTransaction } from './database.ts';
import { isInSight } from './keys.ts';
import {
  countList,
  findMatches,
  findNear,
  type ListFilter,
  type Page,
  type Place,
  readList,
} from './list-queries.ts';
import { searchCondition } from './request-words.ts';
import { toTestRequest } from './test-requests.ts';

/**
 * The number of requests that are searched for a page of matches, before all matches are read from the index
 * of words.
 */
const maxNear = 500;

export type ListQuery = ListFilter & {
  /** Absent: all requests are listed. */
  readonly search?: RequestSearch;
  /**
   * The page next to a request, by its GUID. Without a request, or with one that is out of sight, the newest
   * page.
   */
  readonly from?: { readonly guid: string; readonly go: Page['go'] };
};

export type RequestPage = {
  /** Newest first. */
  readonly requests: readonly TestRequest[];
  /**
   * Of all pages, or one more than `maxCount` if there are more. Absent if there is more than a page of
   * matches, which are not counted.
   */
  readonly count?: number;
  readonly hasNewer: boolean;
  readonly hasOlder: boolean;
};

/**
 * Reads a page of a list. However many requests there are, reads a bounded number of rows, in the order of an
 * index. If a search does not fill a page soon, reads all of its matches, and no other request.
 */
export async function readRequestPage(tx: OrderingTransaction, query: ListQuery): Promise<RequestPage> {
  // A common word must not cause a sequential scan, nor a bounded plan a compilation.
  await sql`select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`.execute(tx);
  return readPage(tx, query);
}

async function readPage(tx: OrderingTransaction, { from, ...query }: ListQuery): Promise<RequestPage> {
  const place = from && (await findPlace(tx, query, from.guid));
  const go = place === undefined ? 'older' : (from?.go ?? 'older');
  // One place more than the page, to know whether there is another page.
  const { places, ...counted } = await findPlaces(tx, query, { place, go, limit: pageSize + 1 });
  // Beyond the last page, or backwards with less than a page before: the newest requests.
  const isFirst = place !== undefined && places.length < (go === 'newer' ? pageSize : 1);
  if (isFirst) return readPage(tx, query);
  const hasMore = places.length > pageSize;
  const shown = places.slice(0, pageSize);
  return {
    ...counted,
    requests: await readRequests(tx, query, go === 'newer' ? shown.toReversed() : shown),
    hasNewer: go === 'newer' ? hasMore : place !== undefined,
    hasOlder: go === 'newer' || hasMore,
  };
}

type Found = { readonly places: readonly Place[]; readonly count?: number };

async function findPlaces(tx: OrderingTransaction, query: ListQuery, page: Page): Promise<Found> {
  const { search } = query;
  if (search === undefined) {
    const places = await readList(tx, query, page);
    return { places, count: await countList(tx, query, maxCount + 1) };
  }
  // A search of signs only has no word, so nothing matches.
  if (search.length === 0) return { places: [], count: 0 };
  const condition = searchCondition(search, query.sight);
  // A common word fills a page soon; the index of words finds a rare word soon.
  const near = await findNear(tx, query, { ...page, condition, bound: maxNear });
  if (near.length > pageSize) return { places: near };
  const { places, count } = await findMatches(tx, query, { ...page, condition });
  return { places, count: Math.min(count, maxCount + 1) };
}

function findPlace(tx: OrderingTransaction, { sight }: ListQuery, guid: string): Promise<Place | undefined> {
  return tx
    .selectFrom('test_requests')
    .select(['guid', 'created_at'])
    .where('guid', '=', guid)
    .where(isInSight(sight))
    .executeTakeFirst();
}

async function readRequests(
  tx: OrderingTransaction,
  { sight }: ListQuery,
  places: readonly Place[],
): Promise<TestRequest[]> {
  if (places.length === 0) return [];
  const guids = places.map(({ guid }) => guid);
  const rows = await tx
    .selectFrom('test_requests')
    .selectAll()
    .where('guid', 'in', guids)
    .where(isInSight(sight))
    .execute();
  const requests = new Map(rows.map((row) => [row.guid, toTestRequest(row)]));
  return guids.flatMap((guid) => requests.get(guid) ?? []);
}
