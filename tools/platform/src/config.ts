import { Type } from '@clinical-launch/contracts/type';
import { requireParts } from '@clinical-launch/process/parts';
import {
  ConfigurationError,
  type Environment,
  publicUrlSetting,
  readEnvironment,
  readTogether,
} from '@clinical-launch/runtime/environment';
import { logLevelSetting } from '@clinical-launch/runtime/logger';
import { isProduction } from '@clinical-launch/runtime/mode';

const port = { minimum: 0, maximum: 65_535 };

const environmentSchema = Type.Object({
  PORT: Type.Integer({ ...port, default: 8080 }),
  HOST: Type.Optional(Type.String()),
  /** 0: any free one, so that several instances live beside each other. */
  ADMIN_PORT: Type.Integer({ ...port, default: 0 }),
  PUBLIC_URL: Type.Optional(publicUrlSetting),
  /** Reverse proxies in front, for callers' addresses. */
  TRUSTED_PROXIES: Type.Integer({ minimum: 0, default: 0 }),
  REGISTRY_FILE: Type.Optional(Type.String()),
  LOG_LEVEL: logLevelSetting,
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
    registryFile:
      read.REGISTRY_FILE ?? new URL(import.meta.resolve('@clinical-launch/simulators/registry.json')),
  });
}

/**
 * Keeps what is only fit for a demo out of production: embedded parts lose everything with the process, the
 * demo registry has secrets that everybody knows. Missing keys are reported where keys are read.
 * @throws ConfigurationError in production mode, naming everything that is missing.
 */
export function assertFitForProduction(environment: Environment): void {
  if (!isProduction(environment)) return;
  const unset = ['PUBLIC_URL', 'REGISTRY_FILE'].filter((name) => !environment[name]);
  readTogether({
    parts: () => requireParts(environment, ['REDIS_URL', 'AMQP_URL', 'DATABASE_URL']),
    others() {
      if (unset.length > 0) throw new ConfigurationError(unset.map((name) => `${name} is not set`));
    },
  });
}
