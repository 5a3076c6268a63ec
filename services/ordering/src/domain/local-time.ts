const formatters = new Map<string, Intl.DateTimeFormat>();

/**
 * What the clocks of a time zone show at an instant, seconds cut: `2026-03-02T09:05:59`
 * @param instant milliseconds since 1970-01-01T00:00:00Z
 * @param timeZone IANA name
 */
export function localTime(instant: number, timeZone: string): string {
  // Making a formatter costs a thousand times what using it costs. Swedish writes 2026-03-02 09:05:59.
  const formatter =
    formatters.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  formatters.set(timeZone, formatter);
  return formatter.format(instant).replace(' ', 'T');
}

/** The day, YYYY-MM-DD, that an instant belongs to in a time zone; as `localTime`. */
export const localDay = (instant: number, timeZone: string) => localTime(instant, timeZone).slice(0, 10);

/** How many days one day, YYYY-MM-DD, is after another. */
export const daysBetween = (earlier: string, later: string) =>
  Math.round((Date.parse(later) - Date.parse(earlier)) / 86_400_000);

/** Whether a text is a day of the calendar, YYYY-MM-DD. */
export function isDay(text: string): boolean {
  const milliseconds = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  // A Date makes 1 March of 29 February 2026.
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(text);
}
