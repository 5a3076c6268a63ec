import type { CollectionEntry } from './draft.ts';

/** A date as typed: day, month and year. */
export type TypedDate = CollectionEntry['date'];

/**
 * Returns a typed date as drafts store it: `2026-2-28`. Dashes separate its parts, so typed dashes become
 * spaces.
 */
export const writeTypedDate = ({ day, month, year }: TypedDate) =>
  [year, month, day].map((part) => part.replaceAll('-', ' ')).join('-');

/** Reads a typed date as drafts store it. */
export function readTypedDate(written: string): TypedDate {
  const [year = '', month = '', day = ''] = written.split('-');
  return { day, month, year };
}
