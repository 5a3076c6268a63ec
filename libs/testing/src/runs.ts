/**
 * Returns the number of runs of a property test: a tenth of `count`, or all of `count` with `LONG=1` in the
 * environment.
 */
export const runsOf = (count: number) => (process.env['LONG'] === '1' ? count : Math.ceil(count / 10));
