import { type AuditEntry, cursorText } from '../domain/audit-entry.ts';
import { entryWords, serviceNameOf } from '../domain/event-words.ts';
import { getFaultWords } from '../domain/fault-words.ts';
import { detailOf } from '../domain/launch-story.ts';
import type { WriteTime } from './written-time.ts';

/** Returns the model of an entry as a row of a page. */
export function presentEntry(entry: AuditEntry, write: WriteTime) {
  const isRefused = entry.outcome !== 'success';
  return {
    time: write(entry.time),
    what: entryWords(entry),
    service: serviceNameOf(entry.source),
    outcome: entry.outcome,
    cause: isRefused && entry.reason !== null ? getFaultWords(entry).cause : undefined,
    reason: entry.reason,
    status: entry.status,
    detail: detailOf(entry),
    ...presentParties(entry),
    guid: entry.correlationId,
    href: `/audit/launches/${entry.launchId ?? entry.correlationId}`,
  };
}

/** Returns the model of an entry's parties, as far as they are known. */
export const presentParties = (entry: Partial<Parties>) => ({
  client: entry.client ?? undefined,
  user: entry.userDisplay ?? entry.user ?? undefined,
  username: entry.user ?? undefined,
  practice: entry.practiceName ?? entry.practice ?? undefined,
  practiceCode: entry.practice ?? undefined,
  patient: entry.patient === null || entry.patient === undefined ? undefined : shortPseudonym(entry.patient),
  pseudonym: entry.patient ?? undefined,
  address: entry.address ?? undefined,
});

type Parties = Pick<
  AuditEntry,
  'client' | 'user' | 'userDisplay' | 'practice' | 'practiceName' | 'patient' | 'address'
>;

/** Returns the start of a pseudonym, which is enough to distinguish two patients on a page. */
export const shortPseudonym = (pseudonym: string): string => pseudonym.slice(0, 8);

/**
 * Formats an entry for an answer or an export: its columns that are not empty, its event and its cursor, which
 * is the parameter `after` of a request for older entries.
 */
export function answeredEntry(entry: AuditEntry) {
  const { event, time, ...columns } = entry;
  const given = Object.entries(columns).filter(([, value]) => value !== null);
  return {
    ...Object.fromEntries(given),
    time: time.toISOString(),
    cursor: cursorText(entry),
    event,
  };
}
