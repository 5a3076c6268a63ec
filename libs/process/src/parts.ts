import { Type } from '@clinical-launch/contracts/type';
import type { Clock } from '@clinical-launch/runtime/clock';
import { ConfigurationError, type Environment, isProduction } from '@clinical-launch/runtime/environment';
import type { Logger } from '@clinical-launch/runtime/logger';
import type { EventKeys } from './event-keys.ts';

/** A part of a process, such as its Redis connection, that runs until it is stopped. */
export type RunningPart = {
  /** The readiness checks of the part, by the names that `/readyz` shows. */
  readonly checks: Readonly<Record<string, () => Promise<boolean>>>;
  stop(): Promise<void>;
};

export type PartOptions = {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The name of the process, which PostgreSQL shows to the operator as the name of the connections. */
  readonly name: string;
  /** The keys that sign the events that the process publishes and verify the events that it receives. */
  readonly eventKeys: EventKeys;
};

export type PartVariable = keyof typeof partSettings;

/**
 * The addresses of the parts. A process requires the address of each part that it uses. `npm start` embeds a
 * part without an address.
 */
export const partSettings = {
  REDIS_URL: Type.String({
    title:
      'Redis: `redis://user:password@host:6379/0`, or `rediss://` with TLS. For a cluster: several addresses separated by commas, or one with `?cluster=true`. For Sentinels: several addresses, the first with `?sentinel=<name of the primary>`.',
  }),
  AMQP_URL: Type.String({ title: 'RabbitMQ: `amqp://user:password@host:5672`, or `amqps://` with TLS.' }),
  DATABASE_URL: Type.String({
    title: 'PostgreSQL: `postgres://user:password@host:5432/database`. `?sslmode=verify-full` requires TLS.',
  }),
};

/**
 * Checks that the addresses of all parts are set and, in production, contain no password of the demo.
 * @throws ConfigurationError that names every variable
 */
export function requireParts(environment: Environment, variables: readonly PartVariable[]): void {
  const problems = variables.flatMap((name) => {
    const address = environment[name];
    if (!address) return [`${name} is not set`];
    return isProduction(environment) && hasPasswordOfDemo(address)
      ? [`${name} contains a password of the demo, which is publicly known`]
      : [];
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** The passwords of `deploy/docker/demo-secrets` begin with `demo-`. Redis may have several addresses. */
const hasPasswordOfDemo = (addresses: string) =>
  addresses.split(',').some((address) => URL.parse(address.trim())?.password.startsWith('demo-') === true);
