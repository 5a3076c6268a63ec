import type { EventType } from '@clinical-launch/contracts/events/catalogue';
import {
  eventConsumers,
  eventSources,
  type ServiceName,
} from '@clinical-launch/contracts/events/cloud-event';
import type { BrokerAccess } from '@clinical-launch/events/rabbitmq-definitions';
import type { DatabaseRole, RowPrivilege } from '@clinical-launch/storage/database-roles';

export type { ServiceName };

/** The services, by the names of their folders. */
export const serviceNames = Object.keys(eventSources) as ServiceName[];

/** The rights of a service in the database: one schema, and these rows of it. */
export type DatabaseAccess = Pick<DatabaseRole, 'schema' | 'privileges' | 'exceptions'>;

const change: readonly RowPrivilege[] = ['select', 'insert', 'update', 'delete'];

/** The schema of each service that has one. The audit trail can add events but not change them. */
export const databaseAccess: Readonly<Partial<Record<ServiceName, DatabaseAccess>>> = {
  'identity-provider': { schema: 'identity_provider', privileges: change },
  ordering: { schema: 'ordering', privileges: change },
  'order-renderer': { schema: 'order_renderer', privileges: change },
  'audit-trail': {
    schema: 'audit_trail',
    privileges: ['select', 'insert'],
    // Callers' identifiers, which expire, and how far background work has come. They are not audit events.
    exceptions: {
      originating_id: change,
      progress: ['select', 'insert', 'update'],
    },
  },
};

/** Returns the events of orders, which these services publish from their own database. */
const ofOrders = (service: 'ordering' | 'order-renderer'): readonly EventType[] =>
  eventSources[service].filter((type) => type.startsWith('order'));

const typesFromDatabases: readonly EventType[] = [...ofOrders('ordering'), ...ofOrders('order-renderer')];

const consumersOf = (service: ServiceName): readonly string[] =>
  Object.entries(eventConsumers).flatMap(([name, consumer]) => (consumer.service === service ? [name] : []));

/**
 * The rights of a service at the broker. All other events wait in Redis. The audit trail relays them for
 * every service, so it may publish each of their types, but it can sign none of them.
 */
export const brokerAccess: Readonly<Partial<Record<ServiceName, BrokerAccess>>> = {
  // The audit trail relays its own events, as those of every service that stores them in Redis.
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
