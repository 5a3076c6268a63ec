import type { AuditEntry } from '../domain/audit-entry.ts';
import { accessTypes, accessWords } from '../domain/event-words.ts';
import type { AuditCriteria, SearchAudit } from '../store/audit-search.ts';
import { entriesOf } from './read-pages.ts';

/**
 * The number of events of each search. If one finds more events, the page states that its list is incomplete.
 */
const mostEvents = 10_000;
const listed = 'orders.listed.v1';

/** Returns the users who have seen a patient, and whether there are more events than were read. */
export async function whoHasSeen(search: SearchAudit, pseudonym: string) {
  // Lists show requests of several patients, so they are searched by the patients they show.
  const searches: AuditCriteria[] = [
    { patient: pseudonym, types: accessTypes.filter((type) => type !== listed) },
    { listedPatient: pseudonym },
  ];
  const events = new Map<string, AccessEvent>();
  let isCut = false;
  for (const criteria of searches) {
    let read = 0;
    for await (const entry of entriesOf(search, { criteria, limit: mostEvents + 1 })) {
      read += 1;
      events.set(entry.id, entry);
    }
    isCut ||= read > mostEvents;
  }
  return { accesses: patientAccessesOf([...events.values()]), isCut };
}

type AccessEvent = Pick<
  AuditEntry,
  'type' | 'time' | 'user' | 'userDisplay' | 'practice' | 'practiceName' | 'client'
>;

/** Groups events by user, practice and client. The most recent access comes first. */
function patientAccessesOf(events: readonly AccessEvent[]) {
  const byUser = Map.groupBy(events, ({ user, practice, client }) =>
    JSON.stringify([user?.toLowerCase() ?? null, practice, client]),
  );
  return [...byUser.values()]
    .flatMap(patientAccessOf)
    .toSorted((one, other) => other.last.getTime() - one.last.getTime());
}

/** Returns the accesses of one user, with the number for each description, such as "Viewed a request". */
function patientAccessOf(events: readonly AccessEvent[]) {
  const ordered = events.toSorted((one, other) => one.time.getTime() - other.time.getTime());
  const [first] = ordered;
  const last = ordered.at(-1);
  if (first === undefined || last === undefined) return [];
  const counts = new Map<string, number>();
  for (const { type } of ordered) {
    const what = accessWords(type) ?? type;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const { user, practice, client } = first;
  const userDisplay = ordered.find((event) => event.userDisplay !== null)?.userDisplay ?? null;
  const practiceName = ordered.find((event) => event.practiceName !== null)?.practiceName ?? null;
  return [{ user, userDisplay, practice, practiceName, client, first: first.time, last: last.time, counts }];
}
