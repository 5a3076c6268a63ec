import {
  ConfigurationError,
  type Environment,
  isProduction,
  logLevelSetting,
  originSetting,
  readEnvironment,
} from '@clinical-launch/service';
import { Type } from 'typebox';

const port = { minimum: 0, maximum: 65_535 };

const environmentSchema = Type.Object({
  PORT: Type.Integer({ ...port, default: 8080 }),
  HOST: Type.Optional(Type.String()),
  /** 0 for any free port, so that several instances can run at the same time. */
  ADMIN_PORT: Type.Integer({ ...port, default: 0 }),
  PUBLIC_URL: Type.Optional(originSetting),
  /** The number of reverse proxies in front, for callers' addresses. */
  TRUSTED_PROXIES: Type.Integer({ minimum: 0, default: 0 }),
  REGISTRY_FILE: Type.Optional(Type.String()),
  LOG_LEVEL: logLevelSetting,
});

/**
 * Reads the settings of the one-process platform, besides those of the services. @throws ConfigurationError
 */
export function readDemoConfig(environment: Environment) {
  const read = readEnvironment(environmentSchema, environment);
  return Object.freeze({
    port: read.PORT,
    ...(read.HOST === undefined ? {} : { host: read.HOST }),
    adminPort: read.ADMIN_PORT,
    publicUrl: read.PUBLIC_URL,
    trustedProxies: read.TRUSTED_PROXIES,
    registryFile:
      read.REGISTRY_FILE ?? new URL(import.meta.resolve('@clinical-launch/simulators/registry.json')),
  });
}

/**
 * Refuses demo settings in production: embedded parts lose everything with the process, and the secrets of
 * the demo registry are public. Missing keys are reported where keys are read.
 * @throws ConfigurationError in production mode, with everything that is missing
 */
export function assertFitForProduction(environment: Environment): void {
  if (!isProduction(environment)) return;
  const needed = ['PUBLIC_URL', 'REDIS_URL', 'AMQP_URL', 'DATABASE_URL', 'REGISTRY_FILE'];
  const unset = needed.filter((name) => !environment[name]);
  if (unset.length > 0) throw new ConfigurationError(unset.map((name) => `${name} is not set`));
}
