import { createHash, randomUUID } from 'node:crypto';
import { type CloudEvent, placeOfOrder, type Sealer } from '@clinical-launch/contracts';
import type { Clock } from '@clinical-launch/service';
import { callOf } from '@clinical-launch/service/http';
import { type TestRequest, toOrder } from '../domain/test-request.ts';
import type { Visit } from '../http/visit.ts';

export type SubmissionNeeds = {
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** Says that an event waits in the outbox. */
  readonly nudge: () => void;
};

/** What tells the platform of a request that was submitted in this launch: all of its batches, sealed. */
export function eventsOf({ context, launchId, response }: Visit, { sealer }: SubmissionNeeds) {
  const { issuer, clientId } = context.client;
  return (request: TestRequest): CloudEvent[] => {
    const about = { orderGuid: request.guid, launchId, issuer, clientId, orderVersion: request.version };
    return [
      callOf(response).event('order.submitted.v1', {
        ...about,
        action: context.request.action,
        status: request.status,
        batches: request.batches.length,
        tests: request.batches.reduce((count, { tests }) => count + tests.length, 0),
        sealed: sealer.seal('order.submitted.v1', { order: toOrder(request) }, placeOfOrder(about)),
      }),
    ];
  };
}

/** What a change of a request needs beside its tests: the time, and GUIDs for new batches. */
export function stamp({ clock }: Pick<SubmissionNeeds, 'clock'>) {
  return { now: new Date(clock.now()).toISOString(), newGuid: randomUUID };
}

/**
 * The same form sent twice is one submission. A page that came back from the history and was filled in anew is
 * another one, although it has the same hidden fields: told "stored" it would be lost.
 * @param sent everything that the form says
 */
export function submissionIdOf(
  { launchId }: Visit,
  { guid }: Pick<TestRequest, 'guid'>,
  sent: string,
): string {
  const hash = createHash('sha256').update(JSON.stringify([launchId, guid, sent]));
  return hash.digest('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

/** Where a submitted request is shown, with the hidden IFRAME for the PMS. */
export const resultPage = (home: string, { guid }: Pick<TestRequest, 'guid'>) => `${home}orders/${guid}`;
