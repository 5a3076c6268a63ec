import { Type } from '@clinical-launch/contracts/type';
import { type Environment, readEnvironment } from '@clinical-launch/runtime/environment';

export const refusalSettings = Type.Object({
  REFUSALS_PER_ADDRESS: Type.Integer({
    minimum: 0,
    default: 100,
    title:
      'The number of refused requests of an address in ten seconds, in all services together, before the answer is 429. 0 means no limit and an audit event for every refusal. Set the same value at the edge.',
  }),
});

/** The window is short, so that a user who repeats a mistake can continue after reading the error. */
const windowSeconds = 10;
/**
 * The interval is as long as the window, so that a flood from one address causes one event in each window.
 */
const combineSeconds = 10;
/** The maximum number of waiting refusal events. At about 0.7 kB each, they use 11 MB of Redis. */
const mostEvents = 16_000;
/**
 * The maximum number of waiting events if addresses have no limit. It is enough for a load test of one hour.
 */
const mostEventsWithoutLimits = 1_000_000;

/**
 * Reads the limits of refusals. If addresses have no limit, every refusal has its own audit event.
 * @throws ConfigurationError that names the invalid variable
 */
export function readRefusalSettings(environment: Environment) {
  const { REFUSALS_PER_ADDRESS: refusals } = readEnvironment(refusalSettings, environment);
  return refusals === 0
    ? { combineSeconds: 0, mostEvents: mostEventsWithoutLimits, limit: undefined }
    : { combineSeconds, mostEvents, limit: { refusals, windowSeconds } };
}
