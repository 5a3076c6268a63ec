import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { liveSamples, requestStatus, settleBatch } from './lifecycle.ts';
import type { RequestedBatch, RequestedSample, TestRequest } from './test-request.ts';

/** The current record of one sample. */
export type SampleRecord = {
  readonly sample: string;
  /** Absent if it is still to be taken. `at`: ISO 8601 instant. */
  readonly collected?: { readonly at: string; readonly by: string };
  readonly quantity: number;
};

/** The maximum number of tubes or pots of one sample. */
export const maxQuantity = 20;

/** Returns the samples of a request that live tests need, with their batch, in the order of the document. */
export function samplesOf({ batches }: Pick<TestRequest, 'batches'>) {
  return batches.flatMap((batch) => liveSamples(batch).map((sample) => ({ sample, batch })));
}

/**
 * Records the samples that were taken. Leaves unnamed samples, and samples that no live test needs,
 * unchanged. With the last sample, the request becomes Complete.
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
 * Records all samples of a request as taken by one person at one time.
 * @param now ISO 8601 instant
 */
export function recordAllSamples(
  request: TestRequest,
  collected: NonNullable<SampleRecord['collected']>,
  now: string,
): TestRequest {
  const records = samplesOf(request).map(({ sample }) => ({ sample: sample.id, collected, quantity: 1 }));
  return recordSamples(request, records, now);
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
