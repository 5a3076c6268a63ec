import type { EventType } from '@clinical-launch/contracts/events/catalogue';
import {
  type EventSource,
  eventConsumers,
  eventSources,
  type ServiceName,
} from '@clinical-launch/contracts/events/cloud-event';
import type { BrokerAccess } from '@clinical-launch/events/rabbitmq-definitions';
import type { DatabaseRole, RowPrivilege } from '@clinical-launch/storage/database-roles';

export type { ServiceName };

/** The services and the operator's commands. Each has its own Redis user and its own event keys. */
export const eventSourceNames = Object.keys(eventSources) as EventSource[];
const isService = (source: EventSource): source is ServiceName => source !== 'operator';
/** The names of the services, which are also the names of their folders. */
export const serviceNames: readonly ServiceName[] = eventSourceNames.filter(isService);

/** The rights of a service in the database: one schema, and privileges on its rows. */
export type DatabaseAccess = Pick<DatabaseRole, 'schema' | 'privileges' | 'exceptions'>;

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
