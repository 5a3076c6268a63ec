import type { LaunchContext, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import type { Order, OrderBatch, OrderedTest, OrderSample } from '@clinical-launch/contracts/order/order';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Orderable } from './catalogue.ts';

/**
 * The status of a submitted request (OLTR: Request status). An Incomplete request still waits for a sample
 * and may change. A Complete request waits for no sample and is immutable.
 */
export type RequestStatus = 'Incomplete' | 'Complete';

/** A sample of a request. `container` is an id of the catalogue; absent for a test that needs no sample. */
export type RequestedSample = OrderSample & {
  readonly container?: string;
  /** The site on the body, and the timing. Each is absent if it does not matter. */
  readonly site?: string;
  readonly timing?: string;
  /** The person who collected the sample; present with `completedAt`. */
  readonly collectedBy?: string;
  /** The number of tubes or pots of the sample, each with one label. The default is 1. */
  readonly quantity?: number;
};

export type RequestedTest = OrderedTest & {
  /** The ISO 8601 instant at which the test was added. Absent for a test of the original request. */
  readonly requestedAt?: string;
  /** The ids of the test's samples after the first sample, whose id is `sample`. */
  readonly otherSamples?: readonly string[];
  /** The key of the answer that names the site of the test's sample. */
  readonly siteFrom?: string;
  /** The reason for ordering the test within its minimum interval. */
  readonly repeatReason?: string;
  /** The reason for requesting the test although it does not apply to the patient's sex or age. */
  readonly overrideReason?: string;
};

/** Returns the ids of all samples of a test. */
export const sampleIdsOf = ({ sample, otherSamples = [] }: RequestedTest) => [sample, ...otherSamples];

/** The tests for one laboratory location. A batch and a test have the status R, S or D (`OrderStatus`). */
export type RequestedBatch = Omit<OrderBatch, 'samples' | 'tests'> & {
  /** Present if another place, such as a hub or a hospital, collects the samples. */
  readonly isElsewhere?: true;
  readonly samples: readonly RequestedSample[];
  readonly tests: readonly RequestedTest[];
};

/** The parts of the launch that a request stores, such as requester, patient and laboratory. */
export type RequestParties = Pick<
  LaunchRequest,
  'patient' | 'requester' | 'author' | 'practice' | 'performer' | 'authoredOn'
>;

/** An answer to a question of the catalogue, with the text of the question on the page. */
export type Answer = { readonly question: string; readonly text: string; readonly answer: string };

export type Priority = 'routine' | 'urgent';

/** The requester's details for the laboratory, besides the tests. */
export type RequestDetails = {
  readonly clinicalDetails: string;
  readonly priority: Priority;
  readonly answers: readonly Answer[];
};

/** A request with its tests and samples. `version` increases with each change (optimistic locking). */
export type TestRequest = RequestDetails & {
  readonly guid: string;
  readonly launchId: string;
  readonly client: { readonly issuer: string; readonly clientId: string };
  readonly originatingId: string;
  readonly version: number;
  readonly status: RequestStatus;
  readonly parties: RequestParties;
  readonly batches: readonly RequestedBatch[];
  /** ISO 8601 instants */
  readonly createdAt: string;
  readonly updatedAt: string;
};

type NewRequest = {
  readonly guid: string;
  readonly context: LaunchContext;
  readonly details: RequestDetails;
  /** ISO 8601 instant */
  readonly now: string;
};

/** Returns a request without tests. */
export function emptyTestRequest({ guid, context, details, now }: NewRequest): TestRequest {
  const { client, request, launchId } = context;
  const { patient, requester, author, practice, performer, authoredOn, originatingId } = request;
  return {
    guid,
    launchId,
    client: { issuer: client.issuer, clientId: client.clientId },
    originatingId,
    version: 1,
    status: 'Incomplete',
    parties: { patient, requester, author, practice, performer, authoredOn },
    ...details,
    batches: [],
    createdAt: now,
    updatedAt: now,
  };
}

/** Returns the codes of the tests that were not removed from a request. */
export function liveCodes({ batches }: Pick<TestRequest, 'batches'>): string[] {
  return batches.flatMap(({ tests }) => tests.filter(({ status }) => status !== 'D')).map(codeOf);
}

/** Returns the code that an ordered test has in the catalogue. */
export const codeOf = ({ code }: Pick<OrderedTest, 'code'>): Orderable['code'] => code.value;

/**
 * Returns the order for the laboratory and the PMS. Omits what the order document does not contain, such as
 * clinical details, reasons, and who collected a sample.
 */
export function toOrder({ guid, parties, batches }: TestRequest): Order {
  const { author: _, ...seen } = parties;
  return {
    guid,
    ...seen,
    batches: batches.map(({ isElsewhere: _place, ...batch }) => ({
      ...batch,
      samples: batch.samples.map(
        ({ id, description, completedAt }): OrderSample => ({
          id,
          description,
          ...withoutUndefined({ completedAt }),
        }),
      ),
      tests: batch.tests.map(
        ({ id, sample, description, code, status, statusAt }): OrderedTest => ({
          id,
          sample,
          description,
          code,
          status,
          statusAt,
        }),
      ),
    })),
  };
}
