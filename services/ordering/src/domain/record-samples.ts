import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { type CollectionPlan, choiceFor } from './draft.ts';
import { isWaiting, liveSamples, requestStatus, settleBatch } from './lifecycle.ts';
import type { RequestedBatch, RequestedSample, TestRequest } from './test-request.ts';

/** Whether a sample is collected, by whom and when, and its number of tubes. */
export type SampleRecord = {
  readonly sample: string;
  /** Absent if the sample is not collected yet. `at` is an ISO 8601 instant. */
  readonly collected?: { readonly at: string; readonly by: string };
  readonly quantity: number;
};

/** The maximum number of tubes or pots of one sample. */
export const maxQuantity = 20;

/** Returns the samples that live tests of a request need, with their batches, in document order. */
export function samplesOf({ batches }: Pick<TestRequest, 'batches'>) {
  return batches.flatMap((batch) => liveSamples(batch).map((sample) => ({ sample, batch })));
}

/**
 * Stores the records of samples in a request. Does not change other samples, or samples that no live test
 * needs. When all samples that live tests need are collected, the request becomes Complete.
 * @param now ISO 8601 instant
 */
export function recordSamples(
  request: TestRequest,
  records: readonly SampleRecord[],
  now: string,
): TestRequest {
  const bySample = new Map(records.map((record) => [record.sample, record]));
  const batches = request.batches.map((batch): RequestedBatch => {
    const live = new Set(liveSamples(batch).map(({ id }) => id));
    const samples = batch.samples.map((sample) => {
      const record = live.has(sample.id) ? bySample.get(sample.id) : undefined;
      return record === undefined ? sample : withRecord(sample, record);
    });
    return settleBatch({ ...batch, samples }, now);
  });
  return { ...request, batches, status: requestStatus(batches), updatedAt: now };
}

/**
 * Applies the plan of a new order: marks the batches whose samples another place collects, and records the
 * samples that one person collected now.
 * @param now ISO 8601 instant
 */
export function collectAsPlanned(
  request: TestRequest,
  { plan, collected }: Pick<SampleRecord, 'collected'> & { readonly plan: CollectionPlan },
  now: string,
): TestRequest {
  const choiceOf = ({ provider }: RequestedBatch) => choiceFor(plan, provider.code);
  const batches = request.batches.map((batch) =>
    isWaiting(batch) && choiceOf(batch) === 'elsewhere' ? { ...batch, isElsewhere: true as const } : batch,
  );
  const records = samplesOf(request)
    .filter(({ batch }) => choiceOf(batch) === 'now')
    .map(({ sample }) => ({ sample: sample.id, ...withoutUndefined({ collected }), quantity: 1 }));
  return recordSamples({ ...request, batches }, records, now);
}

function withRecord(
  { completedAt: _at, collectedBy: _by, quantity: _quantity, ...sample }: RequestedSample,
  { collected, quantity }: SampleRecord,
): RequestedSample {
  return {
    ...sample,
    ...(quantity === 1 ? {} : { quantity }),
    ...withoutUndefined({ completedAt: collected?.at, collectedBy: collected?.by }),
  };
}
