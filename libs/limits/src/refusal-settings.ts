import { Type } from '@clinical-launch/contracts/type';
import { type Environment, readEnvironment } from '@clinical-launch/runtime/environment';

/** The limits of refusals. */
export const refusalSettings = Type.Object({
  REFUSALS_PER_ADDRESS: Type.Integer({
    minimum: 0,
    default: 100,
    title:
      'Refused requests of one address in ten seconds, in all services together, before the answer is 429. 0 means no limit and an audit event for every refusal. Use the same at the edge.',
  }),
});

/** A user who repeats a mistake is under the limit again before they have read the error. */
const windowSeconds = 10;
/** As long as the window, so that a flood from one address costs one event for each window. */
const combineSeconds = 10;
/** At some 0.7 kB each, 11 MB of Redis. */
const mostEvents = 16_000;
/** Enough for a load test of an hour. */
const mostEventsWithoutLimits = 1_000_000;

/**
 * Reads the limits of refusals. Without a limit for each address, every refusal has an audit event of its
 * own, however many of them wait.
 * @throws ConfigurationError that names the invalid variable
 */
export function readRefusalSettings(environment: Environment) {
  const { REFUSALS_PER_ADDRESS: refusals } = readEnvironment(refusalSettings, environment);
  return refusals === 0
    ? { combineSeconds: 0, mostEvents: mostEventsWithoutLimits, limit: undefined }
    : { combineSeconds, mostEvents, limit: { refusals, windowSeconds } };
}
