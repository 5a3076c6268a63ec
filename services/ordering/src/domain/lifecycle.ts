import type { OrderedTest, OrderStatus } from '@clinical-launch/contracts';
import type { RequestedBatch, RequestedSample, RequestStatus } from './test-request.ts';

/**
 * How a test's status code goes on (OLTR: States and transitions). A sample that was recorded by mistake may be taken
 * back while the request is Incomplete; a deleted test stays deleted, and ordered again it is a new line of the
 * document.
 */
const nextStatus: Readonly<Record<OrderStatus, { readonly taken: OrderStatus; readonly open: OrderStatus }>> =
  {
    R: { taken: 'S', open: 'R' },
    S: { taken: 'S', open: 'R' },
    D: { taken: 'D', open: 'D' },
  };

/** Whether a test is still wanted. */
export const isLive = ({ status }: Pick<OrderedTest, 'status'>) => status !== 'D';

/**
 * Whether anything is taken from the patient for it; imaging has a sample in the document that says that it needs
 * none.
 */
export const isTakenFromPatient = ({ container }: Pick<RequestedSample, 'container'>) =>
  container !== undefined;

/** The samples that live tests wait for or have. */
export function liveSamples({
  samples,
  tests,
}: Pick<RequestedBatch, 'samples' | 'tests'>): RequestedSample[] {
  const wanted = new Set(tests.filter(isLive).map(({ sample }) => sample));
  return samples.filter((sample) => isTakenFromPatient(sample) && wanted.has(sample.id));
}

/** Brings the status codes of a batch into line with its samples; a status that changes gets `now`, ISO 8601. */
export function settleBatch(batch: RequestedBatch, now: string): RequestedBatch {
  const samples = new Map(batch.samples.map((sample) => [sample.id, sample]));
  const tests = batch.tests.map((test) => {
    const isTaken = samples.get(test.sample)?.completedAt !== undefined;
    return withStatus(test, nextStatus[test.status][isTaken ? 'taken' : 'open'], now);
  });
  return withStatus({ ...batch, tests }, batchStatus({ ...batch, tests }), now);
}

/** D when every test is deleted, S when every sample that is needed is taken, R before. */
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
 * OLTR: Request status. A submitted request whose live tests all have their sample is with the laboratory: Complete, and
 * immutable from then on. A test for which nothing is taken waits for nothing.
 */
export function requestStatus(batches: readonly RequestedBatch[]): RequestStatus {
  const isWaiting = batches.flatMap(liveSamples).some(({ completedAt }) => completedAt === undefined);
  return isWaiting ? 'Incomplete' : 'Complete';
}
