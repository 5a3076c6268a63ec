import { createEvent } from '@clinical-launch/contracts';
import { isSpeculative } from '@clinical-launch/service';
import type { TestRequest } from '../domain/test-request.ts';
import { speculativeReading } from '../errors.ts';
import type { RecordEvents } from '../store/record-events.ts';
import type { Visit } from './visit.ts';

/** Answers a visit to a page of one request, which the launch sees. */
export type RequestHandler = (visit: Visit, request: TestRequest) => Promise<void>;

/**
 * Whether somebody reads the answer. HEAD has none to read.
 * @throws ServiceError 400 for a prefetch, a prerender or a preview: its answer may be shown later, unseen by the
 * audit trail.
 */
export function isRead(visit: Pick<Visit, 'request'>): boolean {
  assertNotSpeculative(visit);
  return visit.request.method !== 'HEAD';
}

/** Refuses a request for a page that nobody reads yet. @throws ServiceError as `isRead`. */
export function assertNotSpeculative({ request }: Pick<Visit, 'request'>): void {
  if (isSpeculative(request)) throw speculativeReading();
}

export type ViewNeeds = { readonly record: RecordEvents; readonly nudge: () => void };

/**
 * Leaves the audit event before anything of the request is sent: one that was shown is never missing in the trail.
 * @throws ServiceError as `isRead`.
 */
export async function recordView(
  visit: Visit,
  { guid }: Pick<TestRequest, 'guid'>,
  { record, nudge }: ViewNeeds,
): Promise<void> {
  if (!isRead(visit)) return;
  const { origin, launchId, context } = visit;
  const { action } = context.request;
  await record([
    createEvent('order.viewed.v1', origin, {
      orderGuid: guid,
      launchId,
      action,
    }),
  ]);
  nudge();
}
