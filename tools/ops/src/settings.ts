import { type Setting, UsageError } from '@clinical-launch/process/command-line';
import type { Environment } from '@clinical-launch/runtime/environment';

/** The settings of several commands. Each setting can be read from a file whose path is in `<NAME>_FILE`. */
export const databaseUrl: Setting = {
  name: 'DATABASE_URL',
  summary: 'postgres://user:password@host:5432/database; or DATABASE_URL_FILE, a file that contains it',
};
export const amqpUrl: Setting = {
  name: 'AMQP_URL',
  summary: "The broker as the operator's user, amqp://user:password@host:5672; or AMQP_URL_FILE",
};
export const amqpNamespace: Setting = {
  name: 'AMQP_NAMESPACE',
  summary: 'The prefix of exchanges and queues, if it is not the default prefix',
};
export const redisPrefix: Setting = {
  name: 'REDIS_PREFIX',
  summary: 'The prefix of the Redis keys, if it is not the default prefix',
};
export const secretsDirectory: Setting = {
  name: 'SERVICE_SECRETS_DIR',
  summary:
    'Directory with <service>/database-url, redis-url and amqp-url, the addresses that the services use',
};

/** Returns the value of a setting. @throws UsageError if it is not set, with what to do */
export function required(environment: Environment, setting: Setting): string {
  const { name } = setting;
  const value = environment[name];
  if (value !== undefined && value !== '') return value;
  const isServer = setting === databaseUrl || setting === amqpUrl;
  const remedy = isServer ? `. To try this command, start the demo with it: ${name}=... npm start` : '';
  throw new UsageError(`${name} is not set${remedy}`);
}

/** Returns the value of a setting, or undefined if it is not set or empty. */
export const optional = (environment: Environment, { name }: Setting): string | undefined =>
  environment[name] || undefined;
