import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '@clinical-launch/process/command-line';

/** The user of a service on PostgreSQL, Redis or RabbitMQ. */
export type Credentials = { readonly name: string; readonly password: string };

export type UrlFile = 'database-url' | 'redis-url' | 'amqp-url';

/**
 * Reads a service's user and password from `<directory>/<service>/<file>`, which contains the address that
 * the service itself uses.
 * @throws UsageError if the file is missing, or has no user or no password. The message contains no secret
 */
export function readCredentials(directory: string, service: string, file: UrlFile): Credentials {
  const path = join(directory, service, file);
  if (!existsSync(path)) throw new UsageError(`${path} is missing`);
  const url = URL.parse(readFileSync(path, 'utf8').trim().split(',')[0] ?? '');
  const name = decodeURIComponent(url?.username ?? '');
  const password = decodeURIComponent(url?.password ?? '');
  if (name === '' || password === '') throw new UsageError(`${path} must contain a user and a password`);
  return { name, password };
}
