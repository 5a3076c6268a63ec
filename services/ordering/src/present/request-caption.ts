import { localDay, localTime, writtenDate } from '@clinical-launch/contracts/time';
import { daysBetween } from '../domain/days.ts';
import { isCancelled, isLive } from '../domain/lifecycle.ts';
import { listed } from '../domain/panels.ts';
import type { TestRequest } from '../domain/test-request.ts';

type Moment = { readonly now: number; readonly timeZone: string };

/** Returns the references with live tests. If all tests of the request were removed, returns all. */
export function referencesOf({ batches }: Pick<TestRequest, 'batches'>): string[] {
  const live = batches.filter(({ tests }) => tests.some(isLive));
  return (live.length > 0 ? live : batches).map(({ orderReference }) => orderReference);
}

/**
 * Returns the caption that identifies the request on its pages, because a patient may have several requests:
 * `NCP-000003 · requested today at 09:55 · waiting for samples`.
 */
export const captionOf = (request: TestRequest, moment: Moment) =>
  [
    listed(referencesOf(request)),
    `requested ${describeMoment(request.createdAt, moment)}`,
    stateOf(request),
  ].join(' · ');

function stateOf({ status, batches }: TestRequest): string {
  if (isCancelled({ batches })) return 'cancelled';
  return status === 'Complete' ? 'submitted to the laboratory' : 'waiting for samples';
}

/** Describes an ISO 8601 instant relative to now: `today at 09:55`, `on 2 March 2026 at 09:55`. */
export function describeMoment(isoTime: string, { now, timeZone }: Moment): string {
  const [day = '', time = ''] = localTime(Date.parse(isoTime), timeZone).split('T');
  const names = ['today', 'yesterday'];
  const name = names[daysBetween(day, localDay(now, timeZone))] ?? `on ${writtenDate(day)}`;
  return `${name} at ${time.slice(0, 5)}`;
}
