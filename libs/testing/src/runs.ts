/**
 * Returns how often a property test runs: a tenth of the given number, or all of it with `LONG=1` in the
 * environment.
 */
export const runsOf = (count: number) => (process.env['LONG'] === '1' ? count : Math.ceil(count / 10));
