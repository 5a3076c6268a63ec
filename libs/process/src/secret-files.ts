import { readFileSync } from 'node:fs';
import { ConfigurationError, type Environment } from '@clinical-launch/runtime/environment';
import { eventKeySettings } from './event-keys.ts';
import { sealingSettings } from './sealing-keys.ts';

/** Settings with passwords or keys, which may be given as a file that the orchestrator mounts. */
export const secretSettings: readonly string[] = [
  'REDIS_URL',
  'AMQP_URL',
  'DATABASE_URL',
  'PATIENT_PSEUDONYM_KEY',
  'AUDIT_SIGNING_KEY',
  'STATEMENT_SIGNING_KEY',
  'AUDIT_OIDC_CLIENT_SECRET',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_EXPORTER_OTLP_METRICS_HEADERS',
  'OTEL_EXPORTER_OTLP_LOGS_HEADERS',
  ...sealingSettings,
  ...eventKeySettings,
];

/**
 * Reads secrets from files: `<NAME>_FILE` is the path of the file with the secret `<NAME>`. If `<NAME>` is
 * set, `<NAME>_FILE` is ignored.
 * @throws ConfigurationError for a file that cannot be read
 */
export function withSecretFiles(environment: Environment): Environment {
  const fromFiles = secretSettings.flatMap((name) => {
    const path = environment[`${name}_FILE`];
    if (!path || environment[name]) return [];
    try {
      return [[name, readFileSync(path, 'utf8').trim()] as const];
    } catch (cause) {
      throw new ConfigurationError([`${name}_FILE cannot be read`], { cause });
    }
  });
  return { ...environment, ...Object.fromEntries(fromFiles) };
}
