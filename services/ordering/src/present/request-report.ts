import type { Action, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import type { OrderStatus } from '@clinical-launch/contracts/order/order';
import type { WriteTime } from '@clinical-launch/contracts/time';
import type { ActionRule } from '../domain/action-rules.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import { isCancelled, isLive, isTakenFromPatient, isWaiting } from '../domain/lifecycle.ts';
import { fullName } from '../domain/person-name.ts';
import {
  type RequestedBatch,
  type RequestedSample,
  sampleIdsOf,
  type TestRequest,
} from '../domain/test-request.ts';
import { requestPage, resultPage } from './addresses.ts';
import { writtenAnswer } from './written-answer.ts';

type Presenting = { readonly catalogue: Pick<Catalogue, 'containers'>; readonly write: WriteTime };

/** One submission in the history of a request. `at` is an ISO 8601 instant. */
type Step = {
  readonly action: Action;
  readonly author: LaunchRequest['author'];
  readonly at: string;
  readonly reason?: string;
};

const testStatuses = {
  R: { text: 'Requested', since: 'Requested on', colour: 'blue' },
  // The status shows when the sample was recorded. The list of samples shows when it was collected.
  S: { text: 'Sample collected', since: 'Sample recorded on', colour: 'green' },
  D: { text: 'Removed', since: 'Removed on', colour: 'grey' },
} as const satisfies Record<OrderStatus, object>;

const steps: Readonly<Partial<Record<Action, string>>> = {
  OrderTest: 'Requested',
  UpdateTest: 'Tests changed',
};

/** Presents the content of a request for its page and its forms. */
export function presentRequest(request: TestRequest, presenting: Presenting) {
  const { status, parties, batches, clinicalDetails, answers, priority, createdAt } = request;
  return {
    status: { name: isCancelled(request) ? 'Cancelled' : status, text: describeStatus(request) },
    isUrgent: priority === 'urgent',
    references: batches.map(({ orderReference }) => orderReference),
    orderedAt: presenting.write(createdAt),
    requester: { name: fullName(parties.requester.name), code: parties.requester.identifier.value },
    author: fullName(parties.author.name),
    practice: { name: parties.practice.name, code: parties.practice.identifier.value },
    batches: batches.map((batch) => presentBatch(batch, presenting)),
    clinicalDetails,
    answers: answers.map(writtenAnswer),
  };
}

/** Presents the history of a request, oldest first. */
export function presentHistory(history: readonly Step[], write: WriteTime) {
  return history.map(({ action, author, at, reason }) => ({
    did: reason === undefined ? (steps[action] ?? 'Samples recorded') : 'Cancelled',
    reason,
    by: fullName(author.name),
    at: write(at),
  }));
}

/** Describes the status (OLTR: Request status), and whether the request can still change. */
function describeStatus({ status, batches }: Pick<TestRequest, 'status' | 'batches'>): string {
  if (isCancelled({ batches })) return 'All tests have been removed. You cannot change it';
  if (status === 'Complete') return 'Submitted to the laboratory. You cannot change it';
  return 'Waiting for samples. You can still change it from your practice system';
}

function presentBatch(batch: RequestedBatch, { catalogue, write }: Presenting) {
  const { id, provider, category, orderReference } = batch;
  const samples = new Map(batch.samples.map((sample) => [sample.id, presentSample(sample, write)]));
  const wanted = new Set(batch.tests.filter(isLive).flatMap(sampleIdsOf));
  return {
    id,
    laboratory: provider.name,
    category,
    orderReference,
    isLive: wanted.size > 0,
    isElsewhere: batch.isElsewhere && isWaiting(batch),
    tests: batch.tests.map((test) => ({
      description: test.description,
      isLive: isLive(test),
      status: testStatuses[test.status],
      at: write(test.statusAt),
      repeatReason: test.repeatReason,
      overrideReason: test.overrideReason,
      samples: sampleIdsOf(test).flatMap((sample) => samples.get(sample)?.description ?? []),
    })),
    // Also shows a collected sample whose tests were removed after the collection.
    samples: batch.samples
      .filter((sample) => isTakenFromPatient(sample) && (wanted.has(sample.id) || sample.completedAt))
      .map((sample) => ({
        ...presentSample(sample, write),
        container: catalogue.containers.get(sample.container ?? ''),
      })),
  };
}

function presentSample(sample: RequestedSample, write: WriteTime) {
  const { description, quantity = 1, completedAt, collectedBy } = sample;
  return {
    description,
    quantity,
    isNeeded: isTakenFromPatient(sample),
    ...(completedAt === undefined ? {} : { taken: { at: write(completedAt), by: collectedBy } }),
  };
}

type Reported = { readonly request: TestRequest; readonly rule: ActionRule; readonly home: string };

/**
 * Presents the links on the page of a request: back to the list or the result page, and to the page for
 * changing the request.
 */
export function presentReportLinks({ request, rule, home }: Reported, write: WriteTime) {
  const change = changeName(rule);
  const isComplete = request.status === 'Complete';
  return {
    // A launch without a list has submitted the request itself.
    back:
      rule.lists.length > 0
        ? { href: `${home}requests`, text: 'Back to the list of requests' }
        : { href: resultPage(home, request), text: 'Back to the submitted request' },
    change:
      change === undefined || isComplete
        ? undefined
        : { href: requestPage(home, rule, request), text: change },
    ...(change !== undefined && isComplete ? { submittedAt: write(request.updatedAt) } : {}),
  };
}

/** Returns the text of the link for changing a request, or undefined if the action may only read it. */
function changeName({ may }: ActionRule): string | undefined {
  if (may.includes('change-tests')) return 'Change tests';
  return may.includes('record-samples') ? 'Record samples' : undefined;
}
