import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import { bindingOfOrder } from '@clinical-launch/crypto/sealing-purposes';
import { type TestRequest, toOrder } from '../domain/test-request.ts';
import type { Launch } from './launch.ts';

type Submission = {
  readonly sealer: Sealer;
  /** What the user submitted: a new order, changed tests or samples. */
  readonly step: 'order' | 'change' | 'samples';
};

/** Creates the event of a submission. Its encrypted order contains all batches of the request. */
export function submittedEvent(
  request: TestRequest,
  { context, call }: Launch,
  { sealer, step }: Submission,
): CloudEvent<'order.submitted.v1'> {
  const { launchId, client } = context;
  const { issuer, clientId } = client;
  const about = { orderGuid: request.guid, launchId, issuer, clientId, orderVersion: request.version };
  const samples = request.batches.flatMap((batch) => batch.samples);
  return call.event('order.submitted.v1', {
    ...about,
    action: context.request.action,
    status: request.status,
    batches: request.batches.length,
    orderReferences: request.batches.map(({ orderReference }) => orderReference),
    tests: request.batches.reduce((count, { tests }) => count + tests.length, 0),
    step,
    samples: samples.length,
    samplesCollected: samples.filter(({ completedAt }) => completedAt !== undefined).length,
    sealed: sealer.seal('order.submitted.v1', { order: toOrder(request) }, bindingOfOrder(about)),
  });
}
