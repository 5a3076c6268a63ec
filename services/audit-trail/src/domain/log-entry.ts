import { entriesOf, memberOf, textsAmong } from '@clinical-launch/contracts/schema';
import type { AuditOutcome } from './audit-row.ts';
import type { EntryOf } from './columns.ts';

/** An entry as pages and stories read it. */
export type LogEntry = Omit<
  EntryOf<{ readonly data: object }, AuditOutcome>,
  'sequence' | 'traceId' | 'issuer' | 'orderGuid'
>;

/** Returns a member of an event's data as text, or undefined if it is neither a number nor a string. */
export function factOf({ event: { data } }: Pick<LogEntry, 'event'>, name: string): string | undefined {
  const value = memberOf(data, name);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** Returns the texts of a list in an event's data. Returns an empty list if the member is not a list. */
export function listOf({ event: { data } }: Pick<LogEntry, 'event'>, name: string): string[] {
  return textsAmong(entriesOf(data, name));
}

/** Returns a member of an event's data as a number, or undefined if it is absent. */
export function numberOf(entry: Pick<LogEntry, 'event'>, name: string): number | undefined {
  const text = factOf(entry, name);
  return text === undefined || text === '' ? undefined : Number(text);
}
