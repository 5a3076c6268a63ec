/** Where the time comes from. Services never ask the machine themselves, so that tests can move it. */
export type Clock = {
  /** Milliseconds since 1970-01-01T00:00:00Z */
  now(): number;
};

/** The machine's own time. */
export const systemClock: Clock = { now: () => Date.now() };
