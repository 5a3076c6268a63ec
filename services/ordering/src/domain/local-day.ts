const formatters = new Map<string, Intl.DateTimeFormat>();

/**
 * The day, YYYY-MM-DD, that an instant belongs to in a time zone.
 * @param instant milliseconds since 1970-01-01T00:00:00Z
 * @param timeZone IANA name
 */
export function localDay(instant: number, timeZone: string): string {
  // Making a formatter costs a thousand times what using it costs. Swedish writes a day as YYYY-MM-DD.
  const formatter =
    formatters.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
  formatters.set(timeZone, formatter);
  return formatter.format(instant);
}

/** How many days one day, YYYY-MM-DD, is after another. */
export const daysBetween = (earlier: string, later: string) =>
  Math.round((Date.parse(later) - Date.parse(earlier)) / 86_400_000);

/** Whether a text is a day of the calendar, YYYY-MM-DD. */
export function isDay(text: string): boolean {
  const milliseconds = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  // A Date makes 1 March of 29 February 2026.
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(text);
}
