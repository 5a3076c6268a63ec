import type {
  LaunchContext,
  LaunchRequest,
  Order,
  OrderBatch,
  OrderedTest,
  OrderSample,
} from '@clinical-launch/contracts';
import type { LabLocation } from './catalogue.ts';
import { describeContainer, type PlannedBatch } from './collection.ts';

/** OLTR: Request status. Complete is submitted to the laboratory and immutable; Incomplete may still change. */
export type RequestStatus = 'Incomplete' | 'Complete';

/** A sample, with the catalogue's container; none where nothing is taken. */
export type RequestedSample = OrderSample & { readonly container?: string };

/** The tests for one laboratory location. Its samples and tests carry R, S or D (`OrderStatus`) each. */
export type RequestedBatch = Omit<OrderBatch, 'samples'> & { readonly samples: readonly RequestedSample[] };

/** Who asked, for whom, of whom: what a request keeps of the launch that made it. */
export type RequestParties = Pick<
  LaunchRequest,
  'patient' | 'requester' | 'author' | 'practice' | 'performer' | 'authoredOn'
>;

/** A request with everything that changes together; `version` rises with each change (optimistic locking). */
export type TestRequest = {
  readonly guid: string;
  readonly launchId: string;
  readonly client: { readonly issuer: string; readonly clientId: string };
  readonly originatingId: string;
  readonly version: number;
  readonly status: RequestStatus;
  readonly parties: RequestParties;
  readonly clinicalDetails: string;
  readonly batches: readonly RequestedBatch[];
  /** ISO 8601 instants */
  readonly createdAt: string;
  readonly updatedAt: string;
};

type NewRequest = {
  readonly guid: string;
  readonly context: LaunchContext;
  readonly plan: readonly PlannedBatch[];
  readonly clinicalDetails: string;
  /** ISO 8601 instant */
  readonly now: string;
  /** A number that no other batch has. */
  readonly batchNumbers: readonly number[];
  readonly newGuid: () => string;
};

/**
 * A request as it is submitted: every test R (requested), no sample taken, so Incomplete.
 * @throws RangeError when there is no number for each batch.
 */
export function createTestRequest({ guid, context, plan, ...rest }: NewRequest): TestRequest {
  const { clinicalDetails, now, batchNumbers, newGuid } = rest;
  const { client, request, launchId } = context;
  const { patient, requester, author, practice, performer, authoredOn, originatingId } = request;
  const counter = createCounter();
  return {
    guid,
    launchId,
    client: { issuer: client.issuer, clientId: client.clientId },
    originatingId,
    version: 1,
    status: 'Incomplete',
    parties: { patient, requester, author, practice, performer, authoredOn },
    clinicalDetails,
    batches: plan.map((planned, index) => ({
      id: counter('B'),
      guid: newGuid(),
      orderReference: orderReference(planned.location, batchNumbers[index]),
      ...requestBatch(planned, now, counter),
    })),
    createdAt: now,
    updatedAt: now,
  };
}

/** `NCP-000042`: short enough to read out, and no other batch has it. */
function orderReference({ id }: LabLocation, number: number | undefined): string {
  if (number === undefined) throw new RangeError('Each batch needs a number');
  return `${id}-${String(number).padStart(6, '0')}`;
}

type Counter = (kind: 'B' | 'S' | 'T') => string;

/** Ids that are unique within one order: B1, S1, T1, S2, ... */
function createCounter(): Counter {
  const counts = { B: 0, S: 0, T: 0 };
  return (kind) => {
    counts[kind] += 1;
    return `${kind}${counts[kind]}`;
  };
}

function requestBatch(
  { location, tests, samples: planned }: PlannedBatch,
  now: string,
  counter: Counter,
): Omit<RequestedBatch, 'id' | 'guid' | 'orderReference'> {
  const samples = new Map<string | undefined, RequestedSample>(
    planned.map(({ container }) => [
      container.id,
      { id: counter('S'), description: describeContainer(container), container: container.id },
    ]),
  );
  // The order document has a sample for every test, so tests that need none share one that says so.
  if (tests.some(({ container }) => container === undefined)) {
    samples.set(undefined, { id: counter('S'), description: 'No sample needed' });
  }
  return {
    provider: { name: location.name, code: location.code },
    category: location.category,
    status: 'R',
    statusAt: now,
    samples: [...samples.values()],
    tests: tests.map(
      ({ code, name, container }): OrderedTest => ({
        id: counter('T'),
        sample: samples.get(container?.id)?.id ?? '',
        description: name,
        code: { value: code, scheme: 'LOCAL', term: name },
        status: 'R',
        statusAt: now,
      }),
    ),
  };
}

/** The request as laboratory and PMS see it. Clinical details and author stay in this system. */
export function toOrder({ guid, parties, batches }: TestRequest): Order {
  const { author: _, ...seen } = parties;
  return {
    guid,
    ...seen,
    batches: batches.map((batch) => ({
      ...batch,
      samples: batch.samples.map(({ container: _container, ...sample }) => sample),
    })),
  };
}
