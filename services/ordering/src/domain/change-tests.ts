import type { Code } from '@clinical-launch/contracts/order/order';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { LabLocation, Orderable } from './catalogue.ts';
import { isLive, isTakenFromPatient, requestStatus, settleBatch } from './lifecycle.ts';
import {
  describeKind,
  isOpenFor,
  type SampleKind,
  type SiteAnswers,
  sampleKindsOf,
  siteAnswersOf,
} from './sample-kind.ts';
import {
  codeOf,
  type RequestedBatch,
  type RequestedSample,
  type RequestedTest,
  sampleIdsOf,
  type TestRequest,
} from './test-request.ts';

/** A test to add, with the reasons for a repeat and for a test that does not apply to the patient. */
export type AddedTest = { readonly test: Orderable } & Pick<RequestedTest, 'repeatReason' | 'overrideReason'>;

type TestChange = {
  readonly add: readonly AddedTest[];
  readonly remove: readonly string[];
  /** ISO 8601 instant */
  readonly now: string;
  /** Unused batch numbers, one for each location of `newLocations`. */
  readonly batchNumbers: readonly number[];
  readonly newGuid: () => string;
};

/** Returns the locations of added tests for which the request has no batch yet. */
export function newLocations(batches: readonly RequestedBatch[], add: readonly AddedTest[]): LabLocation[] {
  const locations = new Set(add.map(({ test }) => test.location));
  return [...locations].filter((location) => !batches.some((batch) => isAt(batch, location)));
}

/**
 * Adds tests to a request and removes other tests. An added test joins the batch of its location. It shares a
 * sample of the same `SampleKind` only if that sample is not collected yet. Only the laboratory knows whether
 * a tube has enough blood for another test. A removed test stays in the request with status D (OLTR: the
 * UpdateTest document contains all batches).
 * @throws RangeError if there are fewer numbers than new batches
 */
export function changeTests(request: TestRequest, change: TestChange): TestRequest {
  const counter = continueIds(request.batches);
  const answers = siteAnswersOf(request.answers);
  const removed = request.batches.map((batch) =>
    moveSamples(removeTests(batch, change), answers, () => counter('S')),
  );
  const created = newLocations(request.batches, change.add).map((location, index) =>
    emptyBatch({ location, number: change.batchNumbers[index], counter, change }),
  );
  const batches = [...removed, ...created].map((batch) =>
    settleBatch(
      addTests(batch, { change, counter, answers, isLater: change.now !== request.createdAt }),
      change.now,
    ),
  );
  return { ...request, batches, status: requestStatus(batches), updatedAt: change.now };
}

function removeTests(batch: RequestedBatch, { remove, now }: TestChange): RequestedBatch {
  const tests = batch.tests.map((test) =>
    isLive(test) && remove.includes(codeOf(test)) ? ({ ...test, status: 'D', statusAt: now } as const) : test,
  );
  return { ...batch, tests };
}

type Counter = (kind: 'B' | 'S' | 'T') => string;

/**
 * Returns a function that returns the next unused id of a request: B1 for a batch, S1 for a sample, T1 for a
 * test.
 */
function continueIds(batches: readonly RequestedBatch[]): Counter {
  const counts = {
    B: batches.length,
    S: batches.reduce((count, { samples }) => count + samples.length, 0),
    T: batches.reduce((count, { tests }) => count + tests.length, 0),
  };
  return (kind) => {
    counts[kind] += 1;
    return `${kind}${counts[kind]}`;
  };
}

type BatchStart = { location: LabLocation; number: number | undefined; counter: Counter; change: TestChange };

function emptyBatch({ location, number, counter, change: { now, newGuid } }: BatchStart): RequestedBatch {
  return {
    id: counter('B'),
    guid: newGuid(),
    orderReference: orderReference(location, number),
    provider: { name: location.name, code: location.code },
    category: location.category,
    status: 'R',
    statusAt: now,
    samples: [],
    tests: [],
  };
}

/** Returns a reference such as `NCP-000042`, which is short enough to read out and unique to its batch. */
function orderReference({ id }: LabLocation, number: number | undefined): string {
  if (number === undefined) throw new RangeError('Each new batch needs a number');
  return `${id}-${String(number).padStart(6, '0')}`;
}

type Adding = { readonly counter: Counter; readonly answers: SiteAnswers };

function addTests(
  batch: RequestedBatch,
  { change, counter, answers, isLater }: Adding & { change: TestChange; isLater: boolean },
): RequestedBatch {
  const own = change.add.filter(({ test }) => isAt(batch, test.location));
  const samples = withSamplesFor(own, batch.samples, { counter, answers });
  const tests = own.map(({ test, ...reasons }): RequestedTest => {
    const { code, name } = test;
    return {
      id: counter('T'),
      ...samplesFor(test, samples, answers),
      description: name,
      code: { value: code, scheme: 'LOCAL', term: name },
      status: 'R',
      statusAt: change.now,
      ...(isLater ? { requestedAt: change.now } : {}),
      ...reasons,
    };
  });
  return { ...batch, samples, tests: [...batch.tests, ...tests] };
}

/** Returns the ids of a test's samples, and the key of the answer that names the site of the sample. */
function samplesFor(
  test: Orderable,
  samples: readonly RequestedSample[],
  answers: SiteAnswers,
): Pick<RequestedTest, 'sample' | 'otherSamples' | 'siteFrom'> {
  const kinds = sampleKindsOf(test, answers);
  const [siteFrom] = kinds.flatMap((kind) => kind.siteFrom ?? []);
  const [sample = '', ...others] =
    kinds.length === 0
      ? samples.filter((each) => !isTakenFromPatient(each)).map(({ id }) => id)
      : kinds.map((kind) => samples.find((each) => isOpenFor(each, kind))?.id ?? '');
  return {
    sample,
    ...(others.length === 0 || kinds.length === 0 ? {} : { otherSamples: others }),
    ...withoutUndefined({ siteFrom }),
  };
}

/**
 * Returns the existing samples, and then the new samples that the added tests need, in order of draw. Adds a
 * placeholder for tests without a sample, because the order document has a sample for every test.
 */
function withSamplesFor(
  added: readonly AddedTest[],
  samples: readonly RequestedSample[],
  { counter, answers }: Adding,
): RequestedSample[] {
  const all = [...samples];
  const kinds = added.flatMap(({ test }) => sampleKindsOf(test, answers));
  for (const kind of kinds.toSorted((one, other) => one.container.drawOrder - other.container.drawOrder)) {
    if (!all.some((sample) => isOpenFor(sample, kind))) all.push(newSample(kind, counter));
  }
  const needsNone = added.some(({ test }) => test.samples.length === 0);
  if (needsNone && all.every(isTakenFromPatient)) {
    all.push({ id: counter('S'), description: 'No sample needed' });
  }
  return all;
}

function newSample(kind: SampleKind, counter: Counter): RequestedSample {
  const { container, site, timing } = kind;
  return {
    id: counter('S'),
    description: describeKind(kind),
    container: container.id,
    ...withoutUndefined({ site, timing }),
  };
}

const isAt = ({ provider }: RequestedBatch, { code }: LabLocation) => isSameCode(provider.code, code);

const isSameCode = (one: Code, other: Code) => one.value === other.value && one.scheme === other.scheme;

/**
 * Applies changed answers about the site of a sample. A collected sample keeps its site. If an equal sample
 * with the new site exists, the test shares that sample. Otherwise, if no other test needs the old sample,
 * the old sample gets the new site. Otherwise, the test gets a new sample.
 * @param newId returns an unused id for a sample
 */
function moveSamples(batch: RequestedBatch, answers: SiteAnswers, newId: () => string): RequestedBatch {
  return batch.tests.reduce((moved, test) => moveTest(moved, { test, answers, newId }), batch);
}

type Move = { readonly test: RequestedTest; readonly answers: SiteAnswers; readonly newId: () => string };

function moveTest(batch: RequestedBatch, { test, answers, newId }: Move): RequestedBatch {
  const { siteFrom } = test;
  const site = siteFrom === undefined ? undefined : answers[siteFrom];
  const from = batch.samples.find(({ id, site: has }) => has !== undefined && sampleIdsOf(test).includes(id));
  const isMoved = isLive(test) && site !== undefined && from !== undefined && from.site !== site;
  if (!isMoved || from.completedAt !== undefined) return batch;
  const target = batch.samples.find((sample) => isOpenTwin(sample, { from, site }));
  if (target !== undefined) return withSample(batch, test, { from, to: target.id });
  const isShared = batch.tests.some(
    (other) => other.id !== test.id && isLive(other) && sampleIdsOf(other).includes(from.id),
  );
  const resited = { ...from, site, description: describedAt(from, site) };
  if (!isShared) {
    return { ...batch, samples: batch.samples.map((sample) => (sample === from ? resited : sample)) };
  }
  const created = { ...resited, id: newId() };
  const added = { ...batch, samples: [...batch.samples, created] };
  return withSample(added, test, { from, to: created.id });
}

const isOpenTwin = (sample: RequestedSample, { from, site }: { from: RequestedSample; site: string }) =>
  sample.completedAt === undefined &&
  sample.container === from.container &&
  sample.timing === from.timing &&
  sample.site === site;

/** Replaces the site in the description of a sample. The description ends with the site (`describeKind`). */
const describedAt = ({ description, site = '' }: RequestedSample, other: string) =>
  `${description.slice(0, description.length - site.length)}${other}`;

function withSample(
  batch: RequestedBatch,
  test: RequestedTest,
  { from, to }: { from: RequestedSample; to: string },
): RequestedBatch {
  const renamed = (id: string) => (id === from.id ? to : id);
  const tests = batch.tests.map((each) =>
    each.id === test.id
      ? {
          ...each,
          sample: renamed(each.sample),
          ...(each.otherSamples && { otherSamples: each.otherSamples.map(renamed) }),
        }
      : each,
  );
  return { ...batch, tests };
}
