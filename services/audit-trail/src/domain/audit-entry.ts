import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { isSearchableDay } from '@clinical-launch/contracts/formats';
import type { AuditOutcome } from './audit-row.ts';
import type { EntryOf } from './columns.ts';

/** A row of the log, completed with details of its launch. */
export type AuditEntry = EntryOf<CloudEvent, AuditOutcome>;

/** The position of a row in the log. The next page starts with the next older row. */
export type AuditCursor = { readonly time: Date; readonly sequence: string };

const cursorForm = /^(\d{1,15})-(\d{1,18})$/;

/** Formats a cursor as text. */
export const cursorText = ({ time, sequence }: AuditCursor): string => `${time.getTime()}-${sequence}`;

/** Parses a cursor. Returns undefined if the text is invalid or its time is out of range. */
export function readCursor(text: string): AuditCursor | undefined {
  const [, at, sequence] = cursorForm.exec(text) ?? [];
  if (at === undefined || sequence === undefined) return undefined;
  const time = new Date(Number(at));
  return isSearchableDay(time.toISOString()) ? { time, sequence } : undefined;
}
