import { isSearchableDay } from '@clinical-launch/contracts/formats';

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
