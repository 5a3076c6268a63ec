import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { cursorText } from '../domain/audit-cursor.ts';
import type { AuditEntry } from '../domain/audit-entry.ts';

/** An entry as it is answered: its columns, without empty ones, and its event. */
export type AnsweredEntry = {
  readonly id: string;
  readonly time: string;
  /** The place of the entry: `after` it are older ones. */
  readonly cursor: string;
  readonly event: CloudEvent;
};

/** Returns an entry as it is answered and exported. */
export function answeredEntry(entry: AuditEntry): AnsweredEntry {
  const { event, time, ...columns } = entry;
  const given = Object.entries(columns).filter(([, value]) => value !== null);
  return {
    ...(Object.fromEntries(given) as { id: string }),
    time: time.toISOString(),
    cursor: cursorText(entry),
    event,
  };
}
