/**
 * The source of the current time. Services never read the machine's clock themselves, so that tests can
 * change the time.
 */
export type Clock = {
  /** Milliseconds since 1970-01-01T00:00:00Z */
  now(): number;
};

/** The machine's own time. */
export const systemClock: Clock = { now: () => Date.now() };
