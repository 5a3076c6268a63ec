import { isLoopback } from '@clinical-launch/contracts/addresses';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { optionalText, Type } from '@clinical-launch/contracts/type';
import { requireParts } from '@clinical-launch/process/parts';
import {
  ConfigurationError,
  type Environment,
  isProduction,
  publicUrlSetting,
  readEnvironment,
  readTogether,
} from '@clinical-launch/runtime/environment';
import { logLevelSetting } from '@clinical-launch/runtime/logger';
import { demoRegistry } from './sandbox.ts';

const port = { minimum: 0, maximum: 65_535 };

const environmentSchema = Type.Object({
  PORT: Type.Integer({ ...port, default: 8080 }),
  /** By default, only this machine, because the secrets of the demo are public (`hostOf`). */
  HOST: optionalText(),
  /** The port of HTTPS for localhost, outside production. Production uses the edge. */
  HTTPS_PORT: Type.Optional(Type.Integer(port)),
  /** The value 0 chooses any free port, so that several instances can run on one machine. */
  ADMIN_PORT: Type.Integer({ ...port, default: 0 }),
  PUBLIC_URL: Type.Optional(publicUrlSetting),
  /** The number of reverse proxies in front of this process, which determines callers' addresses. */
  TRUSTED_PROXIES: Type.Integer({ minimum: 0, default: 0 }),
  REGISTRY_FILE: optionalText(),
  LOG_LEVEL: logLevelSetting,
});

/**
 * Reads the settings of the process itself. The settings of its services are read separately.
 * @throws ConfigurationError
 */
export function readDemoConfig(environment: Environment) {
  const read = readEnvironment(environmentSchema, environment);
  return Object.freeze({
    port: read.PORT,
    ...withoutUndefined({ host: read.HOST ?? hostOf(read.PUBLIC_URL, environment) }),
    httpsPort: isProduction(environment) ? undefined : read.HTTPS_PORT,
    adminPort: read.ADMIN_PORT,
    publicUrl: read.PUBLIC_URL,
    trustedProxies: read.TRUSTED_PROXIES,
    registryFile: read.REGISTRY_FILE ?? demoRegistry,
  });
}

/** Returns the loopback address, or undefined (every address) in production and if others use the platform. */
function hostOf(publicUrl: string | undefined, environment: Environment): string | undefined {
  const isLocal = publicUrl === undefined || isLoopback(new URL(publicUrl).hostname);
  return isLocal && !isProduction(environment) ? '127.0.0.1' : undefined;
}

/**
 * In production, requires `PUBLIC_URL`, real servers and a registry. Embedded replacements lose their data
 * when the process ends, and the secrets of the demo's registry are publicly known. Missing keys are reported
 * where keys are read.
 * @throws ConfigurationError that lists the missing settings and the passwords of the demo
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
