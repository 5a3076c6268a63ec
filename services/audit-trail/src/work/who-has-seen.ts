import { accessTypes } from '../domain/event-words.ts';
import { type AccessEvent, type PatientAccess, patientAccessesOf } from '../domain/patient-access.ts';
import type { AuditCriteria, SearchAudit } from '../store/audit-search.ts';

/**
 * The maximum number of events that are read. If there are more events, the page states that its list is
 * incomplete.
 */
const mostEvents = 10_000;
const pageSize = 1000;
const listed = 'orders.listed.v1';

/** Returns the users who have seen a patient, and whether there are more events than were read. */
export async function whoHasSeen(
  search: SearchAudit,
  pseudonym: string,
): Promise<{ readonly accesses: readonly PatientAccess[]; readonly isCut: boolean }> {
  const events = new Map<string, AccessEvent>();
  // Lists show requests of several patients, so they are searched by the patients they show.
  const searches: AuditCriteria[] = [
    { patient: pseudonym, types: accessTypes.filter((type) => type !== listed) },
    { listedPatient: pseudonym },
  ];
  let isCut = false;
  for (const criteria of searches) isCut = (await collect(search, criteria, events)) || isCut;
  return { accesses: patientAccessesOf([...events.values()]), isCut };
}

/** Adds the found events to `events`. Returns whether the log contains more events than were read. */
async function collect(
  search: SearchAudit,
  criteria: AuditCriteria,
  events: Map<string, AccessEvent>,
): Promise<boolean> {
  let { entries, next } = await search(criteria, { limit: pageSize });
  for (const entry of entries) events.set(entry.id, entry);
  while (next !== undefined && events.size < mostEvents) {
    ({ entries, next } = await search(criteria, { after: next, limit: pageSize }));
    for (const entry of entries) events.set(entry.id, entry);
  }
  return next !== undefined;
}
