import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import type { Outbox } from '@clinical-launch/events/event-bus';
import { sendText } from '@clinical-launch/http/answer';
import type { Exchange } from '@clinical-launch/http/endpoint';
import type { Pages } from '@clinical-launch/pages/templates';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { AuditPagesConfig } from '../../pages-config.ts';
import type { WriteTime } from '../../present/written-time.ts';
import type { ReadActivity } from '../../store/activity.ts';
import type { SearchAudit } from '../../store/audit-search.ts';
import type { KnownParties } from '../../store/known-parties.ts';
import type { EndedSessions, Staff } from './session.ts';

export type PagesDependencies = {
  readonly config: AuditPagesConfig;
  readonly clock: Clock;
  readonly pages: Pages;
  readonly events: Outbox;
  readonly search: SearchAudit;
  readonly readActivity: ReadActivity;
  readonly parties: Pick<KnownParties, 'users' | 'practices'>;
  readonly pseudonyms: PatientPseudonyms;
  readonly write: WriteTime;
  /** The sessions ended by signing out, shared by all replicas. */
  readonly endedSessions: EndedSessions;
};

/** A request of a signed-in member of staff who may read the log. */
export type Visit = Exchange & { readonly staff: Staff };

type Searched = {
  readonly searchedId?: string;
  /** The pseudonym of the patient, if it is a criterion of the search. */
  readonly patient?: string;
  readonly criteria: readonly string[];
  readonly format?: 'page' | 'ndjson';
};

/** Records a search before it is answered. */
export async function recordVisit(
  { call }: Visit,
  { config, events }: PagesDependencies,
  { searchedId, patient, criteria, format = 'page' }: Searched,
): Promise<void> {
  const { clientId } = config;
  await events.append([
    call.event('audit.searched.v1', {
      clientId,
      ...withoutUndefined({ searchedId, patient }),
      criteria: [...criteria],
      format,
    }),
  ]);
}

/** Sends a page. */
export function show(
  { response, staff }: Visit,
  { pages }: PagesDependencies,
  template: string,
  model: object,
): void {
  sendText(response, 'text/html', pages.render(template, { ...model, staff, isSignedIn: true }));
}
