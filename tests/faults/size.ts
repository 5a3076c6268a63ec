const short = {
  name: 'short',
  outageMs: 4000,
  killRounds: 8,
  /** Whether deliveries wait for the end of a killed process's lease, which lasts 75 seconds. */
  outwaitsLeases: false,
  racedTokens: 100,
  attemptsEach: 10,
  /** How long the PMS takes to answer a callback. */
  callbackMs: 0,
  /** How long strangers send requests as fast as they can. */
  floodMs: 5000,
  /** Longer than the edge needs to notice that a process is going, even on a busy machine. */
  shutdownDelayMs: 2500,
  launchesPerSecond: 12,
  /** Launches before a fault and after it. */
  launches: 20,
};

const long: typeof short = {
  name: 'long',
  outageMs: 20_000,
  killRounds: 100,
  outwaitsLeases: true,
  racedTokens: 1000,
  attemptsEach: 50,
  // So that processes die in the middle of one. It is sent again when its lease is over, after 75 seconds.
  callbackMs: 100,
  floodMs: 60_000,
  shutdownDelayMs: 4000,
  launchesPerSecond: 25,
  launches: 200,
};

/** The long form (`npm run test:faults`) takes its time; the short one is part of `npm test`. */
export const size = process.env['FAULTS'] === 'long' ? long : short;
