/**
 * Returns the whole months from a date of birth to a day, both YYYY-MM-DD; undefined if the birth is after
 * it.
 */
export function monthsOld(today: string, birthDate: string): number | undefined {
  if (birthDate > today) return undefined;
  const [thisYear = 0, thisMonth = 0, thisDay = 0] = today.split('-').map(Number);
  const [year = 0, month = 0, day = 0] = birthDate.split('-').map(Number);
  return (thisYear - year) * 12 + (thisMonth - month) - (thisDay < day ? 1 : 0);
}
