import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { actionRules } from '../domain/action-rules.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import type { ListSearch } from '../domain/list-search.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { findListSearch } from '../store/list-searches.ts';
import { type ListQuery, type RequestPage, readRequestPage } from '../store/request-lists.ts';
import type { WorkDependencies } from './launch.ts';
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
  const query = queryOf(dependencies, context, { search, catalogue, from: { guid, go: 'older' } });
  const page = await readPage(dependencies, query);
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
  const reading = { search, catalogue: undefined, from: undefined };
  // Whoever holds the sample finds its request, also if another place was to collect it.
  const { hidesElsewhereSince: _, ...query } = queryOf(dependencies, context, reading);
  const { requests } = await readPage(dependencies, query);
  const [found, ...more] = requests.filter(({ batches }) =>
    batches.some(({ orderReference }) => bare(orderReference) === bare(text)),
  );
  return more.length === 0 ? found : undefined;
}

const bare = (reference: string) => reference.toUpperCase().replace('-', '');

const queryOf = (
  { clock, timeZone }: Dependencies,
  context: LaunchContext,
  reading: { search: ListSearch; catalogue: Catalogue | undefined; from: ListQuery['from'] },
): ListQuery =>
  listQueryOf(context, {
    ...reading,
    rule: actionRules[context.request.action],
    moment: { now: clock.now(), timeZone },
  });

const readPage = ({ database }: Dependencies, query: ListQuery): Promise<RequestPage> =>
  database.transaction().execute((tx) => readRequestPage(tx, query));
