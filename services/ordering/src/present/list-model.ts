import type { LaunchPatient } from '@clinical-launch/contracts/launch-context';
import { shortened, type WriteTime, writtenDate } from '@clinical-launch/contracts/time';
import { type ActionRule, requestStep } from '../domain/action-rules.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import { isCancelled, isLive, isOnlyElsewhere, liveSamples } from '../domain/lifecycle.ts';
import type { ListSearch } from '../domain/list-search.ts';
import { isSameName, listName, shortName } from '../domain/person-name.ts';
import { codeOf, type TestRequest } from '../domain/test-request.ts';
import { requestPage } from './addresses.ts';
import { presentIdentifiers } from './patient-banner.ts';

type List = {
  /** Newest first. */
  readonly requests: readonly TestRequest[];
  /** The number of requests on all pages; absent if a search fills a page and its matches are not counted. */
  readonly count?: number;
  readonly hasNewer: boolean;
  readonly hasOlder: boolean;
  /** The requests that match only if the search tolerates typing errors. */
  readonly similar: readonly TestRequest[];
  /** The number of requests that are hidden, because another place collects their samples. */
  readonly hidden?: number;
};

type ListPage = {
  readonly list: List;
  readonly search: ListSearch;
  readonly rule: ActionRule;
  readonly home: string;
  /** The patient of the launch. The list of a whole practice compares no patients. */
  readonly patient: Pick<LaunchPatient, 'name'>;
  readonly writing: ListWriting;
  /** The number of requests on a page, and the largest count that the page states exactly. */
  readonly limits: { readonly pageSize: number; readonly maxCount: number };
};

/** Presents a page of a list: its rows, the links to the next and previous pages, and its search. */
export function presentList({ list, search, rule, home, patient, writing, limits }: ListPage) {
  const { requests, similar, count, hasNewer, hasOlder, hidden } = list;
  const isFiltered = Object.keys(search.filters).length > 0;
  const isNarrowed = search.text !== '' || search.priority !== undefined || isFiltered;
  const isOfPractice = rule.sees === 'practice';
  const present = (request: TestRequest) => ({
    ...presentEntry(request, writing),
    href: requestPage(home, rule, request),
    isOtherName: !isOfPractice && !isSameName(request.parties.patient.name, patient.name),
    step: stepTexts[requestStep(rule, request)],
  });
  return {
    entries: requests.map(present),
    similar: similar.map(present),
    hidden,
    isSimilarCut: similar.length === limits.pageSize,
    count: { text: describeCount(count, limits), isOne: count === 1 },
    newer: hasNewer ? `requests?after=${requests[0]?.guid}` : undefined,
    older: hasOlder ? `requests?before=${requests.at(-1)?.guid}` : undefined,
    search,
    isNarrowed,
    isFiltered,
    isOfPractice,
    // A patient's list that fits on one page needs no search.
    isSearchable: isOfPractice || isNarrowed || hasNewer || hasOlder,
  };
}

const stepTexts = {
  view: 'View request',
  'change-tests': 'Change tests',
  'record-samples': 'Record samples',
} as const;

function describeCount(count: number | undefined, { pageSize, maxCount }: ListPage['limits']): string {
  if (count === undefined) return `More than ${pageSize}`;
  return count > maxCount ? `${maxCount.toLocaleString('en-GB')}+` : count.toLocaleString('en-GB');
}

/** The number of characters of test names that fit on a line in every window. A wide window shows more. */
const lineLength = 22;

type ListWriting = {
  readonly write: WriteTime;
  readonly catalogueOf: (request: TestRequest) => Catalogue;
};

function presentEntry(request: TestRequest, { write, catalogueOf }: ListWriting) {
  const { parties, batches, priority, status, createdAt } = request;
  const [day = '', time] = write(createdAt).split(' at ');
  const born = writtenDate(parties.patient.birthDate);
  const { orderables } = catalogueOf(request);
  const tests = batches
    .flatMap((batch) => batch.tests.filter(isLive))
    .map((test) => orderables.get(codeOf(test))?.abbreviation ?? test.description);
  const [identifier] = presentIdentifiers(parties.patient);
  return {
    guid: request.guid,
    orderedAt: { iso: createdAt, day: shortened(day), time },
    references: batches.map(({ orderReference }) => orderReference),
    tests: { names: tests, isLong: tests.length > 1 && tests.join(', ').length > lineLength },
    isUrgent: priority === 'urgent',
    status: isCancelled(request) ? 'Cancelled' : status,
    samples: countSamples(request),
    isElsewhere: isOnlyElsewhere(batches),
    requester: shortName(parties.requester.name),
    patient: {
      name: listName(parties.patient.name),
      born,
      shortBorn: shortened(born),
      identifier,
    },
  };
}

function countSamples({ batches }: Pick<TestRequest, 'batches'>) {
  const samples = batches.flatMap(liveSamples);
  const taken = samples.filter(({ completedAt }) => completedAt !== undefined).length;
  return { taken, needed: samples.length };
}
