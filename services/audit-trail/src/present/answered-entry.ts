import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { cursorText } from '../domain/audit-cursor.ts';
import type { AuditEntry } from '../domain/audit-entry.ts';

/** An entry in an answer: its columns that are not empty, and its event. */
export type AnsweredEntry = {
  readonly id: string;
  readonly time: string;
  /** The position of the entry. Send it as the parameter `after` to request older entries. */
  readonly cursor: string;
  readonly event: CloudEvent;
};

/** Formats an entry for an answer or an export. */
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
