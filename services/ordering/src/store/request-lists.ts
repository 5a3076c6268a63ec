import { sql } from 'kysely';
import { maxCount, pageSize } from '../domain/list-search.ts';
import type { RequestSearch, SoughtWord } from '../domain/request-search.ts';
import { type Misspelt, misspeltIn, withOthers } from '../domain/similar-words.ts';
import type { TestRequest } from '../domain/test-request.ts';
import type { OrderingTransaction } from './database.ts';
import { isInSight, type Sight } from './keys.ts';
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
 * How many requests are searched for a page of matches before all matches are read from the index of words.
 */
const maxNear = 500;

export type ListQuery = ListFilter & {
  /** Absent if all requests are listed. */
  readonly search?: RequestSearch;
  /** Since when a search allows for typing errors: an ISO 8601 instant. */
  readonly similarSince: string;
  /** The page next to a request, by its GUID. If absent or out of sight, the newest page. */
  readonly from?: { readonly guid: string; readonly go: Page['go'] };
};

export type RequestPage = {
  /** Newest first. */
  readonly requests: readonly TestRequest[];
  /**
   * The number on all pages, or `maxCount + 1` if there are more. Absent if a search fills a page, because
   * its matches are not counted.
   */
  readonly count?: number;
  readonly hasNewer: boolean;
  readonly hasOlder: boolean;
  /** On the last page: the newest requests that match except for typing errors, at most a page. */
  readonly similar: readonly TestRequest[];
};

/**
 * Reads a page of a list. However many requests there are, reads a bounded number of rows in index order. If
 * the nearest requests do not fill a page of matches, reads all matches, and no other request.
 */
export async function readRequestPage(tx: OrderingTransaction, query: ListQuery): Promise<RequestPage> {
  // Avoids a sequential scan for a common word, and compilation (JIT) of a query that reads few rows.
  await sql`select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`.execute(tx);
  return readPage(tx, query);
}

async function readPage(tx: OrderingTransaction, { from, ...query }: ListQuery): Promise<RequestPage> {
  const place = from && (await findPlace(tx, query, from.guid));
  const go = place === undefined ? 'older' : (from?.go ?? 'older');
  // One place more than a page shows whether there is another page.
  const { places, ...counted } = await findPlaces(tx, query, { place, go, limit: pageSize + 1 });
  // If no request is older, or less than a page is newer, shows the newest page.
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

/** Finds the newest requests that match only if typing errors are allowed. */
async function findSimilar(tx: OrderingTransaction, query: ListQuery): Promise<readonly Place[]> {
  const { search = [], sight, since = '', similarSince } = query;
  const misspelt = await knownOf(tx, sight, misspeltIn(search));
  if (misspelt.every(({ others }) => others.length === 0)) return [];
  const condition = differenceCondition(withOthers(search, misspelt), search, sight);
  const recent = { ...query, since: since > similarSince ? since : similarSince };
  return (await findMatches(tx, recent, { condition, go: 'older', limit: pageSize })).places;
}

/**
 * Reduces the alternatives of each misspelt word to those that a practice's requests contain: a few of
 * hundreds. A patient's list is short, and shares its words in the index with all patients, so it is not
 * reduced.
 */
async function knownOf(
  tx: OrderingTransaction,
  sight: Sight,
  misspelt: readonly Misspelt[],
): Promise<readonly Misspelt[]> {
  if (sight.patientKeys !== undefined || misspelt.length === 0) return misspelt;
  const conditionOf = (word: SoughtWord) => searchCondition([[[word]]], sight);
  const known = await findKnown(
    tx,
    sight,
    misspelt.flatMap(({ others }) => others.map(conditionOf)),
  );
  return misspelt.map(({ word, others }) => ({
    word,
    others: others.filter((other) => known.has(conditionOf(other))),
  }));
}

type Found = { readonly places: readonly Place[]; readonly count?: number };

async function findPlaces(tx: OrderingTransaction, query: ListQuery, page: Page): Promise<Found> {
  const { search } = query;
  if (search === undefined) {
    const places = await readList(tx, query, page);
    return { places, count: await countList(tx, query, maxCount + 1) };
  }
  // A search of punctuation alone contains no words, so it matches nothing.
  if (search.length === 0) return { places: [], count: 0 };
  const condition = searchCondition(search, query.sight);
  // For a common word, the nearest requests fill a page; for a rare word, the index of words is fast.
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
