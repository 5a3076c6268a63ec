import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { actionRules } from '../domain/action-rules.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import type { ListSearch } from '../domain/list-search.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { findListSearch } from '../store/list-searches.ts';
import { type ListQuery, type RequestPage, readRequestPage } from '../store/request-lists.ts';
import type { WorkDependencies } from './dependencies.ts';
import { listQueryOf } from './read-list.ts';

type Dependencies = Pick<WorkDependencies, 'database' | 'clock' | 'timeZone'>;

/**
 * Finds the next older request of a launch's list, with the list's search and filters. Returns undefined if no
 * request is older, or if the launch records no samples in a list.
 */
export async function findNextInList(
  dependencies: Dependencies,
  context: LaunchContext,
  { guid, catalogue }: { readonly guid: string; readonly catalogue: Catalogue | undefined },
): Promise<TestRequest | undefined> {
  const { opens, may } = actionRules[context.request.action];
  if (opens !== 'list' || !may.includes('record-samples')) return undefined;
  const search = await findListSearch(dependencies.database, context.launchId);
  const page = await readPage(dependencies, context, { search, catalogue, from: { guid, go: 'older' } });
  // Without older requests, this is the newest page, which has no newer requests.
  return page.hasNewer ? page.requests[0] : undefined;
}

/**
 * Finds the request of a launch's list that has exactly this reference, with or without its hyphen, whatever the
 * filters of the list are. Returns undefined unless there is one.
 */
export async function findReferenced(
  dependencies: Dependencies,
  context: LaunchContext,
  typed: string,
): Promise<TestRequest | undefined> {
  // A scanner may send its AIM symbology identifier first (ISO/IEC 15424).
  const text = typed.replace(/^\][A-Za-z]\w/, '');
  if (!/^[A-Za-z]{2,}-?\d+$/.test(text)) return undefined;
  const search = { text, filters: {} };
  const { requests } = await readPage(dependencies, context, {
    search,
    catalogue: undefined,
    from: undefined,
  });
  const [found, ...more] = requests.filter(({ batches }) =>
    batches.some(({ orderReference }) => bare(orderReference) === bare(text)),
  );
  return more.length === 0 ? found : undefined;
}

const bare = (reference: string) => reference.toUpperCase().replace('-', '');

type Reading = {
  readonly search: ListSearch;
  readonly catalogue: Catalogue | undefined;
  readonly from: ListQuery['from'];
  /** Whether to find requests whose samples another place collects, which the list hides at first. */
  readonly showsElsewhere?: boolean;
};

function readPage(
  { database, clock, timeZone }: Dependencies,
  context: LaunchContext,
  { showsElsewhere = false, ...reading }: Reading,
): Promise<RequestPage> {
  const moment = { now: clock.now(), timeZone };
  const rule = actionRules[context.request.action];
  const { hidesElsewhereSince, ...query } = listQueryOf(context, { ...reading, rule, moment });
  const hiding = showsElsewhere ? {} : withoutUndefined({ hidesElsewhereSince });
  return database.transaction().execute((tx) => readRequestPage(tx, { ...query, ...hiding }));
}
