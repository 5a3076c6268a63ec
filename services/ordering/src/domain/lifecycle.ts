import type { OrderedTest, OrderStatus } from '@clinical-launch/contracts/order/order';
import {
  type RequestedBatch,
  type RequestedSample,
  type RequestStatus,
  sampleIdsOf,
} from './test-request.ts';

/**
 * The next status code of a test: `taken` if all its samples are collected, otherwise `open` (OLTR: States
 * and transitions). While the request is Incomplete, a collection that was recorded by mistake can be undone.
 * A deleted test stays deleted. If it is ordered again, the document contains a second line for the test.
 */
const nextStatus: Readonly<Record<OrderStatus, { readonly taken: OrderStatus; readonly open: OrderStatus }>> =
  {
    R: { taken: 'S', open: 'R' },
    S: { taken: 'S', open: 'R' },
    D: { taken: 'D', open: 'D' },
  };

/** Returns whether a test is live, that is, not removed from its request. */
export const isLive = ({ status }: Pick<OrderedTest, 'status'>) => status !== 'D';

/** Returns whether a request is cancelled: its status is Complete, because every test was removed. */
export const isCancelled = ({ batches }: { readonly batches: readonly Pick<RequestedBatch, 'tests'>[] }) =>
  !batches.some(({ tests }) => tests.some(isLive));

/** Returns whether a sample comes from the patient. For imaging, the document has a placeholder instead. */
export const isTakenFromPatient = ({ container }: Pick<RequestedSample, 'container'>) =>
  container !== undefined;

/** Returns the samples that live tests need, whether collected or not. */
export function liveSamples({
  samples,
  tests,
}: Pick<RequestedBatch, 'samples' | 'tests'>): RequestedSample[] {
  const wanted = new Set(tests.filter(isLive).flatMap(sampleIdsOf));
  return samples.filter((sample) => isTakenFromPatient(sample) && wanted.has(sample.id));
}

/** Returns whether a batch needs a sample that is not collected yet. */
export const isWaiting = (batch: RequestedBatch) =>
  liveSamples(batch).some(({ completedAt }) => completedAt === undefined);

/** Returns whether a request waits for samples, and only for samples that another place collects. */
export function isOnlyElsewhere(batches: readonly RequestedBatch[]): boolean {
  const waiting = batches.filter(isWaiting);
  return waiting.length > 0 && waiting.every(({ isElsewhere }) => isElsewhere);
}

/** Updates the status codes of a batch from its samples. `now` is the time of each change, ISO 8601. */
export function settleBatch(batch: RequestedBatch, now: string): RequestedBatch {
  const samples = new Map(batch.samples.map((sample) => [sample.id, sample]));
  const tests = batch.tests.map((test) => {
    const isTaken = sampleIdsOf(test).every((id) => samples.get(id)?.completedAt !== undefined);
    return withStatus(test, nextStatus[test.status][isTaken ? 'taken' : 'open'], now);
  });
  return withStatus({ ...batch, tests }, batchStatus({ ...batch, tests }), now);
}

/** Returns D if every test is deleted, S if samples are needed and all are collected, otherwise R. */
function batchStatus(batch: RequestedBatch): OrderStatus {
  if (!batch.tests.some(isLive)) return 'D';
  const samples = liveSamples(batch);
  return samples.length > 0 && samples.every(({ completedAt }) => completedAt !== undefined) ? 'S' : 'R';
}

function withStatus<Part extends { readonly status: OrderStatus; readonly statusAt: string }>(
  part: Part,
  status: OrderStatus,
  now: string,
): Part {
  return part.status === status ? part : { ...part, status, statusAt: now };
}

/**
 * Returns the status of a request (OLTR: Request status). If every sample that a live test needs is
 * collected, the request is Complete and immutable. Tests without a sample are ignored.
 */
export function requestStatus(batches: readonly RequestedBatch[]): RequestStatus {
  return batches.some(isWaiting) ? 'Incomplete' : 'Complete';
}
