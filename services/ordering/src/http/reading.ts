import { isSpeculative } from '@clinical-launch/http/request-target';
import type { TestRequest } from '../domain/test-request.ts';
import { speculativeReading } from '../errors.ts';
import { recordView } from '../work/record-view.ts';
import type { Dependencies } from './dependencies.ts';
import type { Visit } from './visit.ts';

/**
 * Returns whether a user will read the response. The response to HEAD has no body.
 * @throws ServiceError 400 for a prefetch, a prerender or a preview, whose response could be shown later
 * without an audit event
 */
export function isRead(visit: Pick<Visit, 'request'>): boolean {
  assertNotSpeculative(visit);
  return visit.request.method !== 'HEAD';
}

/** Rejects a prefetch, prerender or preview of a page. @throws ServiceError 400, as `isRead` does */
export function assertNotSpeculative({ request }: Pick<Visit, 'request'>): void {
  if (isSpeculative(request)) throw speculativeReading();
}

/**
 * If a user will read the response, stores the audit event of the view before the response is sent. The audit
 * trail therefore contains every view.
 * @throws ServiceError 400, as `isRead` does
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
