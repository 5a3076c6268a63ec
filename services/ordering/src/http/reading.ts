import { isSpeculative } from '@clinical-launch/service/http';
import type { TestRequest } from '../domain/test-request.ts';
import { speculativeReading } from '../errors.ts';
import { recordView } from '../work/record-view.ts';
import type { Dependencies } from './dependencies.ts';
import type { Visit } from './visit.ts';

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

/**
 * Leaves the audit event before anything of the request is sent: one that was shown is never missing in the trail.
 * @throws ServiceError as `isRead`.
 */
export async function readRequest(
  visit: Visit,
  { guid }: Pick<TestRequest, 'guid'>,
  dependencies: Pick<Dependencies, 'database' | 'nudge'>,
): Promise<void> {
  if (!isRead(visit)) return;
  await recordView(dependencies, visit, guid);
  dependencies.nudge();
}
