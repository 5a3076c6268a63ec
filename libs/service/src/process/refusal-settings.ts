import { Type } from '@clinical-launch/contracts/type';
import { type Environment, readEnvironment } from '../environment.ts';

const environmentSchema = Type.Object({
  /** The number of refusals of one address in a window that are answered as such; 0 for no limit. */
  REFUSALS_PER_ADDRESS: Type.Integer({ minimum: 0, default: 100 }),
  REFUSAL_WINDOW_SECONDS: Type.Integer({ minimum: 1, maximum: 3600, default: 10 }),
  /** Seconds in which anonymous refusals of one kind become one event; 0 for an event each. */
  REFUSAL_EVENT_SECONDS: Type.Integer({ minimum: 0, maximum: 3600, default: 10 }),
  /** The number of refusal events that may wait in Redis; further events are dropped and counted. */
  REFUSAL_EVENTS_WAITING: Type.Integer({ minimum: 16, default: 16_000 }),
});

/** Reads the limits of refusals. @throws ConfigurationError that names the invalid variables */
export function readRefusalSettings(environment: Environment) {
  const read = readEnvironment(environmentSchema, environment);
  const refusals = read.REFUSALS_PER_ADDRESS;
  const windowSeconds = read.REFUSAL_WINDOW_SECONDS;
  return {
    combineSeconds: read.REFUSAL_EVENT_SECONDS,
    mostEvents: read.REFUSAL_EVENTS_WAITING,
    limit: refusals === 0 ? undefined : { refusals, windowSeconds },
  };
}
