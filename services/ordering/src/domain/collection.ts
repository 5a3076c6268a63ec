import type { Catalogue, Container, LabLocation, Orderable } from './catalogue.ts';
import { isLive } from './lifecycle.ts';
import { samplesOf } from './record-samples.ts';
import { isSameKind, type SampleKind, type SiteAnswers, sampleKindsOf } from './sample-kind.ts';
import { sampleIdsOf, type TestRequest } from './test-request.ts';

/** A sample to collect from the patient, with all tests that share the sample. */
export type PlannedSample = SampleKind & { readonly tests: readonly Orderable[] };

/** The chosen tests of one laboratory location, and their samples. */
export type PlannedBatch = {
  readonly location: LabLocation;
  readonly tests: readonly Orderable[];
  /** In order of draw. */
  readonly samples: readonly PlannedSample[];
};

/** Splits tests by laboratory location. Tests of one location share a sample of the same `SampleKind`. */
export function planBatches(
  tests: readonly Orderable[],
  { locations }: Catalogue,
  answers: SiteAnswers,
): PlannedBatch[] {
  return locations.flatMap((location) => {
    const own = tests.filter((test) => test.location === location);
    return own.length === 0 ? [] : [{ location, tests: own, samples: planSamples(own, answers) }];
  });
}

function planSamples(tests: readonly Orderable[], answers: SiteAnswers): PlannedSample[] {
  const planned: (SampleKind & { tests: Orderable[] })[] = [];
  for (const test of tests) {
    for (const kind of sampleKindsOf(test, answers)) {
      const same = planned.find((each) => isSameKind(each, kind));
      if (same === undefined) planned.push({ ...kind, tests: [test] });
      else same.tests.push(test);
    }
  }
  return planned.toSorted(byDrawOrder);
}

/** Returns the samples to collect for all laboratories, in order of draw. */
export function drawList(
  batches: readonly PlannedBatch[],
): (PlannedSample & { readonly location: LabLocation })[] {
  return batches
    .flatMap(({ location, samples }) => samples.map((sample) => ({ ...sample, location })))
    .toSorted(byDrawOrder);
}

/**
 * Returns the samples that the live tests of a request need, whether collected or not, in order of draw. Each
 * sample has its tests and its container.
 */
export function samplesInDrawOrder(request: Pick<TestRequest, 'batches'>, { containers }: Catalogue) {
  return samplesOf(request)
    .map(({ sample, batch }) => ({
      sample,
      batch,
      // The container is absent if it has left the catalogue.
      container: containers.get(sample.container ?? ''),
      tests: batch.tests.filter((test) => isLive(test) && sampleIdsOf(test).includes(sample.id)),
    }))
    .toSorted(byDrawOrder);
}

type Drawn = { readonly container?: Container | undefined };

/** Sorts samples by the order of draw. Samples whose container has left the catalogue come last. */
const byDrawOrder = (one: Drawn, other: Drawn) => drawOrderOf(one) - drawOrderOf(other);

const drawOrderOf = ({ container }: Drawn) => container?.drawOrder ?? Number.MAX_SAFE_INTEGER;
