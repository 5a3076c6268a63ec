import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import type { Outbox } from '@clinical-launch/events/event-bus';
import { sendText } from '@clinical-launch/http/answer';
import type { Exchange } from '@clinical-launch/http/endpoint';
import type { Pages } from '@clinical-launch/pages/templates';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { AuditPagesConfig } from '../../pages-config.ts';
import type { WriteTime } from '../../present/written-time.ts';
import type { ReadActivity } from '../../store/activity.ts';
import type { ReadLaunches, SearchAudit } from '../../store/audit-search.ts';
import type { KnownParties } from '../../store/known-parties.ts';
import { recordSearch } from '../audit-reader.ts';
import type { EndedSessions, Staff } from './session.ts';

export type PagesDependencies = {
  readonly config: AuditPagesConfig;
  readonly clock: Clock;
  readonly pages: Pages;
  readonly events: Outbox;
  readonly search: SearchAudit;
  readonly readLaunches: ReadLaunches;
  readonly readActivity: ReadActivity;
  readonly parties: Pick<KnownParties, 'users' | 'practices'>;
  readonly pseudonyms: PatientPseudonyms;
  readonly write: WriteTime;
  /** The sessions ended by signing out, shared by all replicas. */
  readonly endedSessions: EndedSessions;
};

/** A request of a signed-in member of staff who may read the log. */
export type Visit = Exchange & { readonly staff: Staff };

type Searched = Omit<Parameters<typeof recordSearch>[2], 'format'> & { readonly format?: 'ndjson' };

/** Records a search before it is answered. */
export const recordVisit = (
  visit: Visit,
  { config: { clientId }, events }: PagesDependencies,
  searched: Searched,
): Promise<void> => recordSearch(visit, { events, clientId }, { format: 'page', ...searched });

/** Sends a page. */
export function show(
  { response, staff }: Visit,
  { pages }: PagesDependencies,
  template: string,
  model: object,
): void {
  sendText(response, 'text/html', pages.render(template, { ...model, staff, isSignedIn: true }));
}
