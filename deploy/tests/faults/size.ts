const short = {
  name: 'short',
  outageMs: 4000,
  killRounds: 8,
  racedTokens: 100,
  attemptsEach: 10,
  /** Milliseconds until the PMS answers a callback. */
  callbackMs: 0,
  /** Milliseconds in which strangers send requests as fast as they can. */
  floodMs: 10_000,
  /** The number of launches before a fault and after it. */
  launches: 50,
};

const long: typeof short = {
  name: 'long',
  outageMs: 20_000,
  killRounds: 100,
  racedTokens: 1000,
  attemptsEach: 50,
  // So that processes die during a callback. It is sent again when its lease ends, after 75 seconds.
  callbackMs: 100,
  floodMs: 60_000,
  launchesPerSecond: 25,
  launches: 200,
};

/** The long form (`npm run test:faults`) runs for many minutes; the short one is part of `npm test`. */
export const size = process.env['FAULTS'] === 'long' ? long : short;
