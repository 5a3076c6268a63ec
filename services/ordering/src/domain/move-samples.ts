import { isLive } from './lifecycle.ts';
import type { SiteAnswers } from './sample-kind.ts';
import {
  type RequestedBatch,
  type RequestedSample,
  type RequestedTest,
  sampleIdsOf,
} from './test-request.ts';

/**
 * Applies changed answers about the site of a sample. A collected sample keeps its site. If an equal sample
 * with the new site exists, the test shares that sample. Otherwise, if no other test needs the old sample,
 * the old sample gets the new site. Otherwise, the test gets a new sample.
 * @param newId returns an unused id for a sample
 */
export function moveSamples(
  batch: RequestedBatch,
  answers: SiteAnswers,
  newId: () => string,
): RequestedBatch {
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
