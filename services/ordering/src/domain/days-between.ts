/** Returns how many days one day, YYYY-MM-DD, is after another. */
export const daysBetween = (earlier: string, later: string): number =>
  Math.round((Date.parse(later) - Date.parse(earlier)) / 86_400_000);
