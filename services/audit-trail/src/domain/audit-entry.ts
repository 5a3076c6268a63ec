import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { isSearchableDay } from '@clinical-launch/contracts/formats';
import { entriesOf, memberOf, textsAmong } from '@clinical-launch/contracts/schema';
import type { AuditOutcome } from './audit-row.ts';
import type { EntryOf } from './columns.ts';

/** A row of the log, completed with details of its launch. */
export type AuditEntry = EntryOf<CloudEvent, AuditOutcome>;

/** The part of an entry that its facts are read from. */
type Happened = { readonly event: { readonly data: object } };

/** The position of a row in the log. The next page starts with the next older row. */
export type AuditCursor = { readonly time: Date; readonly sequence: string };

export const cursorPattern = '^(\\d{1,15})-(\\d{1,18})$';
const cursorForm = new RegExp(cursorPattern);

/** Formats a cursor as text. */
export const cursorText = ({ time, sequence }: AuditCursor): string => `${time.getTime()}-${sequence}`;

/** Parses a cursor. Returns undefined if the text is invalid or its time is out of range. */
export function readCursor(text: string): AuditCursor | undefined {
  const [, at, sequence] = cursorForm.exec(text) ?? [];
  if (at === undefined || sequence === undefined) return undefined;
  const time = new Date(Number(at));
  return isSearchableDay(time.toISOString()) ? { time, sequence } : undefined;
}

/** Returns a member of an event's data as text, or undefined if it is neither a number nor a string. */
export function factOf({ event: { data } }: Happened, name: string): string | undefined {
  const value = memberOf(data, name);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** Returns the texts of a list in an event's data. Returns an empty list if the member is not a list. */
export function listOf({ event: { data } }: Happened, name: string): string[] {
  return textsAmong(entriesOf(data, name));
}

/** Returns a member of an event's data as a number, or undefined if it is absent. */
export function numberOf(entry: Happened, name: string): number | undefined {
  const text = factOf(entry, name);
  return text === undefined || text === '' ? undefined : Number(text);
}
