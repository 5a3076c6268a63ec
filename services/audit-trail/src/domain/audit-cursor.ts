import { isSearchableDay } from '@clinical-launch/contracts/formats';

/** A place between two rows; the rows after it are older. */
export type AuditCursor = { readonly time: Date; readonly sequence: string };

const cursorForm = /^(\d{1,15})-(\d{1,18})$/;

/** Returns a cursor as text. */
export const cursorText = ({ time, sequence }: AuditCursor): string => `${time.getTime()}-${sequence}`;

/** Returns the cursor of a text; undefined for any other text, and for a time that no row has. */
export function readCursor(text: string): AuditCursor | undefined {
  const [, at, sequence] = cursorForm.exec(text) ?? [];
  if (at === undefined || sequence === undefined) return undefined;
  const time = new Date(Number(at));
  return isSearchableDay(time.toISOString()) ? { time, sequence } : undefined;
}
