import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventType } from '@clinical-launch/contracts/events/catalogue';
import {
  type EventSource,
  eventConsumers,
  eventSources,
  type ServiceName,
} from '@clinical-launch/contracts/events/cloud-event';
import {
  type BrokerAccess,
  type BrokerUser,
  rabbitMqDefinitions,
} from '@clinical-launch/events/rabbitmq-definitions';
import { UsageError } from '@clinical-launch/process/command-line';
import { replaceFile } from '@clinical-launch/process/operator-files';
import { defaultPrefix } from '@clinical-launch/redis/redis-scripts';
import type { DatabaseRole, RowPrivilege } from '@clinical-launch/storage/database-roles';
import { readCredentials } from './credentials.ts';

type AccessOptions = {
  readonly directory: string;
  /** The directory that contains the credentials `<service>/redis-url` and `<service>/amqp-url`. */
  readonly secrets: string;
  readonly prefix?: string;
  readonly namespace?: string;
};

type AccessReport = {
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
  const files = Object.entries(contents).map(([name, text]) => {
    const path = join(directory, name);
    // World-readable, because the servers run as other users.
    replaceFile(path, text, 0o644);
    return path;
  });
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

export type { ServiceName };

/** The services and the operator's commands. Each has its own Redis user and its own event keys. */
export const eventSourceNames = Object.keys(eventSources) as EventSource[];
const isService = (source: EventSource): source is ServiceName => source !== 'operator';
/** The names of the services, which are also the names of their folders. */
export const serviceNames: readonly ServiceName[] = eventSourceNames.filter(isService);

type DatabaseAccess = Pick<DatabaseRole, 'schema' | 'privileges' | 'exceptions'>;

const change: readonly RowPrivilege[] = ['select', 'insert', 'update', 'delete'];

/**
 * The database schema of each service that stores rows. The audit trail can add events but not change them.
 */
export const databaseAccess: Readonly<Partial<Record<ServiceName, DatabaseAccess>>> = {
  'identity-provider': { schema: 'identity_provider', privileges: change },
  ordering: { schema: 'ordering', privileges: change },
  'order-renderer': { schema: 'order_renderer', privileges: change },
  'audit-trail': {
    schema: 'audit_trail',
    privileges: ['select', 'insert'],
    // Originating ids, which expire, and the progress of background work. These rows are not audit events.
    exceptions: {
      originating_id: change,
      progress: ['select', 'insert', 'update'],
    },
  },
};

/** Returns the types of the order events that a service publishes from its own database. */
const ofOrders = (service: 'ordering' | 'order-renderer'): readonly EventType[] =>
  eventSources[service].filter((type) => type.startsWith('order'));

const typesFromDatabases: readonly EventType[] = [...ofOrders('ordering'), ...ofOrders('order-renderer')];

const consumersOf = (service: ServiceName): readonly string[] =>
  Object.entries(eventConsumers).flatMap(([name, consumer]) => (consumer.service === service ? [name] : []));

/**
 * The rights of each service on the broker. ordering and order-renderer publish from their own databases. All
 * other events are stored in Redis, and the audit trail relays them. So the audit trail may publish events of
 * these types, but cannot sign them. The operator publishes nothing: see `access`.
 */
export const brokerAccess: Readonly<Partial<Record<ServiceName, BrokerAccess>>> = {
  'identity-provider': { publishes: [], consumes: consumersOf('identity-provider') },
  ordering: { publishes: ofOrders('ordering'), consumes: consumersOf('ordering') },
  'order-renderer': { publishes: ofOrders('order-renderer'), consumes: consumersOf('order-renderer') },
  'audit-trail': {
    publishes: Object.values(eventSources)
      .flatMap((types): readonly EventType[] => types)
      .filter((type) => !typesFromDatabases.includes(type)),
    consumes: consumersOf('audit-trail'),
  },
};

type RedisUser = {
  readonly service: EventSource;
  readonly name: string;
  readonly password: string;
};

/**
 * Returns the ACL rules of a service or of the operator, one rule in each line of its file in `tools/ops/redis`:
 * the commands without keys, then a selector for each right. Redis allows a command only if one selector
 * allows both the command and all of its keys. No command administers the server or lists keys.
 */
export const redisRulesOf = (service: EventSource): readonly string[] =>
  readFileSync(new URL(`../redis/${service}.acl`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

/**
 * Returns an ACL file (`aclfile`, or one `ACL SETUSER` for each line). The file contains a user for each
 * service, with its rules below the prefix. The user for health checks may only `PING`. The default user
 * cannot sign in. Passwords appear as SHA-256.
 * @throws TypeError for a name or a prefix that an ACL rule cannot contain, and when two services share a
 * user
 */
export function redisAclFile(users: readonly RedisUser[], prefix: string = defaultPrefix): string {
  if (!/^[\w:.-]*$/.test(prefix)) {
    throw new TypeError(
      'A Redis prefix with users may contain only letters, digits, underscores, hyphens, dots and colons',
    );
  }
  const names = users.map(({ name }) => name);
  const unusable = names.find((name) => !/^[\w.-]+$/.test(name) || ['default', 'health'].includes(name));
  if (unusable !== undefined)
    throw new TypeError('A Redis user name is not allowed in an ACL rule. Choose another name');
  if (new Set(names).size < names.length) throw new TypeError('Each service needs its own Redis user');
  const lines = users.map(({ service, name, password }) => {
    const hash = createHash('sha256').update(password).digest('hex');
    const rules = redisRulesOf(service).join(' ').replaceAll(defaultPrefix, prefix);
    return `user ${name} reset on #${hash} ${rules}`;
  });
  // Redis loads its append-only file as the default user, and skips transactions that this user may not run.
  // Without rights, all tickets would be lost after a restart.
  const defaultUser = 'user default reset off ~* &* +@all';
  // The default user is last, because an administrator who sends the lines one by one may be this user.
  return ['user health reset on nopass +ping', ...lines, defaultUser, ''].join('\n');
}
