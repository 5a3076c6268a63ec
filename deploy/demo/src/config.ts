import { ConfigurationError, readEnvironment } from '@clinical-launch/service';
import { Type } from 'typebox';

export type Environment = Readonly<Record<string, string | undefined>>;

const port = { minimum: 0, maximum: 65_535 };

const environmentSchema = Type.Object({
  PORT: Type.Integer({ ...port, default: 8080 }),
  HOST: Type.Optional(Type.String()),
  /** 0: any free one, so that several instances live beside each other. */
  ADMIN_PORT: Type.Integer({ ...port, default: 0 }),
  PUBLIC_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^/?#\\s]+$',
      description: 'must be an origin, as https://launch.example',
    }),
  ),
  /** Reverse proxies in front, for callers' addresses. */
  TRUSTED_PROXIES: Type.Integer({ minimum: 0, default: 0 }),
  REGISTRY_FILE: Type.Optional(Type.String()),
});

/** Reads what the one-process platform needs beside the services' own settings. @throws ConfigurationError */
export function readDemoConfig(environment: Environment) {
  const read = readEnvironment(environmentSchema, environment);
  return Object.freeze({
    port: read.PORT,
    ...(read.HOST === undefined ? {} : { host: read.HOST }),
    adminPort: read.ADMIN_PORT,
    publicUrl: read.PUBLIC_URL,
    trustedProxies: read.TRUSTED_PROXIES,
    registryFile: read.REGISTRY_FILE ?? new URL('../registry.json', import.meta.url),
  });
}

/** The parts that this composition has embedded, by the variable that names the real one. */
const embeddedParts = ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL'];

/**
 * Keeps the demo out of production: its parts lose everything with the process, its keys are drawn at start-up, and
 * its registry has secrets that everybody knows.
 * @throws ConfigurationError in production mode, with all of it at once.
 */
export function assertNotProduction(environment: Environment): void {
  if (environment.NODE_ENV !== 'production') return;
  const unset = embeddedParts.filter((name) => !environment[name]).map((name) => `${name} is not set`);
  throw new ConfigurationError([
    ...unset,
    'NODE_ENV is production, and the one-process platform has embedded parts only',
    ...(environment.REGISTRY_FILE
      ? []
      : ['REGISTRY_FILE is not set, and the demo registry has secrets that everybody knows']),
    ...(environment.SEALING_KEYS ? [] : ['SEALING_KEYS is not set']),
  ]);
}
