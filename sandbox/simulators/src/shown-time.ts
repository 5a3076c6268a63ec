import { localTime, shortened, writtenDate } from '@clinical-launch/contracts/time';

/** Returns a date written YYYY-MM-DD as people write it: `28 Feb 1958`. */
export const shownDate = (date: string): string => shortened(writtenDate(date));

/** Returns the time of an instant at the practice: `16:10:05`. @param instant milliseconds since 1970 */
export const timeOfDay = (instant: number): string => localTime(instant, 'Europe/London').slice(11);
