import { createHash, randomBytes } from 'node:crypto';
import type { EventType } from '@clinical-launch/contracts/events/catalogue';
import {
  type Exchange,
  exchangesOf,
  queuesOf,
  type Topology,
  topologyOf,
  type WantedEvents,
} from './rabbitmq-topology.ts';

/**
 * The rights of a broker user: the event types that it may publish, and the consumers from whose queues it
 * may consume.
 */
export type BrokerAccess = {
  readonly publishes: readonly EventType[];
  readonly consumes: readonly string[];
  /**
   * True for an operator who lists and replays dead letters. The user may then read every dead-letter queue
   * and write to every queue.
   */
  readonly replays?: boolean;
};

export type BrokerUser = BrokerAccess & { readonly name: string; readonly password: string };

type DefinitionsOptions = {
  readonly users: readonly BrokerUser[];
  readonly consumers: readonly WantedEvents[];
  readonly namespace?: string;
  readonly vhost?: string;
};

/**
 * Returns the content of a RabbitMQ definitions file (`load_definitions`, `rabbitmqctl import_definitions`).
 * It contains the exchanges, queues and bindings of a namespace, and for each service a user without
 * configure permission. The file contains passwords as salted SHA-256 hashes.
 * @throws TypeError if two services share a user, or a user has the name `guest` of the default user
 */
export function rabbitMqDefinitions({ users, consumers, namespace, vhost = '/' }: DefinitionsOptions) {
  const names = users.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new TypeError('Each service needs its own broker user');
  if (names.includes('guest'))
    throw new TypeError('The user guest is the default user of the broker. Use another name');
  const topology = topologyOf(namespace);
  const declared = consumers.map((consumer) => queuesOf(topology, consumer));
  return {
    vhosts: [{ name: vhost }],
    users: users.map(({ name, password }) => ({
      name,
      password_hash: hashPassword(password),
      hashing_algorithm: 'rabbit_password_hashing_sha256',
      tags: '',
    })),
    permissions: users.map((user) => ({ user: user.name, vhost, ...permissionsOf(topology, user) })),
    topic_permissions: users.map(({ name, publishes }) => ({
      user: name,
      vhost,
      exchange: topology.events,
      write: anyOf(publishes),
      read: noName,
    })),
    exchanges: exchangesOf(topology).map((exchange) => ({ vhost, ...durable(exchange), internal: false })),
    queues: declared.flatMap(({ queues }) => queues.map((queue) => ({ vhost, ...durable(queue) }))),
    bindings: declared.flatMap(({ bindings }) =>
      bindings.map(({ exchange, queue, routingKey }) => ({
        source: exchange,
        vhost,
        destination: queue,
        destination_type: 'queue',
        routing_key: routingKey,
        arguments: {},
      })),
    ),
  };
}

const durable = <T extends Pick<Exchange, 'name'>>(thing: T) => ({
  arguments: {},
  durable: true,
  auto_delete: false,
  ...thing,
});

/**
 * The name of the default exchange in permissions. This exchange routes a message to the queue whose name is
 * the routing key.
 */
const defaultExchange = 'amq.default';

/**
 * Returns the permissions of a user. Consumers may also write to the dead-letter exchange, which they share.
 * A consumer can therefore write to the dead-letter queue of another consumer. Operators see the
 * consumer of a dead letter before they replay the letter.
 */
function permissionsOf(topology: Topology, { publishes, consumes, replays = false }: BrokerAccess) {
  return {
    configure: noName,
    write: anyOf([
      ...(publishes.length > 0 ? [topology.events] : []),
      ...(consumes.length > 0 ? [topology.deadLetters] : []),
      ...(replays ? [defaultExchange] : []),
    ]),
    read: replays
      ? `^${literal(topology.queueOf('x')).replace(/x$/, '')}[a-z0-9-]+\\.dead-letters$`
      : anyOf(consumes.map((name) => topology.queueOf(name))),
  };
}

/** A permission pattern that matches no resource name, so it grants nothing (RabbitMQ: Access Control). */
const noName = '^$';

const literal = (text: string) => text.replaceAll('.', '\\.');

const anyOf = (names: readonly string[]) =>
  names.length === 0 ? noName : `^(${names.map(literal).join('|')})$`;

/**
 * Returns the Base64 of a 4-byte salt followed by the SHA-256 of salt and password (RabbitMQ: Passwords,
 * "Computing Password Hash").
 */
function hashPassword(password: string): string {
  const salt = randomBytes(4);
  const hash = createHash('sha256').update(salt).update(password).digest();
  return Buffer.concat([salt, hash]).toString('base64');
}
