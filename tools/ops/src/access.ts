import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventConsumers } from '@clinical-launch/contracts/events/cloud-event';
import { type BrokerUser, rabbitMqDefinitions } from '@clinical-launch/events/rabbitmq-definitions';
import { readCredentials } from './credentials.ts';
import { redisAclFile } from './redis-access.ts';
import { brokerAccess, eventSourceNames, serviceNames } from './service-access.ts';
import { UsageError } from './usage-error.ts';

type AccessOptions = {
  readonly directory: string;
  /** The directory that contains the credentials `<service>/redis-url` and `<service>/amqp-url`. */
  readonly secrets: string;
  readonly prefix?: string;
  readonly namespace?: string;
};

/** The paths of the written files, and the users in them. */
export type AccessReport = {
  readonly files: readonly string[];
  readonly redis: readonly string[];
  readonly rabbitMq: readonly string[];
};

/**
 * Writes `users.acl` for Redis and `definitions.json` for RabbitMQ. Each file is replaced as a whole.
 * @throws UsageError if a credential is missing or invalid. In this case, no file has been written
 */
export function writeAccess({ directory, secrets, prefix, namespace }: AccessOptions): AccessReport {
  const redisUsers = eventSourceNames
    .filter((name) => name !== 'operator' || existsSync(join(secrets, name, 'redis-url')))
    .map((service) => ({ service, ...readCredentials(secrets, service, 'redis-url') }));
  const brokerUsers = brokerUsersOf(secrets);
  const contents = usable(() => ({
    'users.acl': redisAclFile(redisUsers, prefix),
    'definitions.json': definitionsFile(brokerUsers, namespace),
  }));
  mkdirSync(directory, { recursive: true });
  const files = Object.entries(contents).map(([name, text]) => replaceFile(join(directory, name), text));
  const names = (users: readonly { readonly name: string }[]) => users.map(({ name }) => name);
  return { files, redis: names(redisUsers), rabbitMq: names(brokerUsers) };
}

function brokerUsersOf(secrets: string): BrokerUser[] {
  const users = serviceNames.flatMap((service) => {
    const access = brokerAccess[service];
    return access === undefined ? [] : [{ ...access, ...readCredentials(secrets, service, 'amqp-url') }];
  });
  if (!existsSync(join(secrets, 'operator', 'amqp-url'))) return users;
  const operator = readCredentials(secrets, 'operator', 'amqp-url');
  return [...users, { publishes: [], consumes: [], replays: true, ...operator }];
}

function definitionsFile(users: readonly BrokerUser[], namespace?: string): string {
  const consumers = Object.entries(eventConsumers).map(([name, wanted]) => ({ name, ...wanted }));
  const definitions = rabbitMqDefinitions({ users, consumers, ...(namespace ? { namespace } : {}) });
  return `${JSON.stringify(definitions, undefined, 2)}\n`;
}

/** Calls `make`, which checks names and prefixes. @throws UsageError instead of a TypeError */
function usable<Result>(make: () => Result): Result {
  try {
    return make();
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

/** Replaces a file. The file is world-readable, because the servers run as other users. */
function replaceFile(path: string, text: string): string {
  writeFileSync(`${path}.new`, text, { mode: 0o644 });
  renameSync(`${path}.new`, path);
  return path;
}
