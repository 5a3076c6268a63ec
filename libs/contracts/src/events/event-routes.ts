import { type EventType, eventCatalogue } from './catalogue.ts';

/** The services of the platform, by their names in `source` of their events (`/launch-api`). */
export type ServiceName = keyof typeof eventSources;

/** Which service publishes each event. An event that another service signed is rejected. */
export const eventSources = {
  'identity-provider': [
    'access.token.issued.v1',
    'access.token.revoked.v1',
    'access.token.refused.v1',
    'access.introspected.v1',
    'desktop.launch.issued.v1',
    'desktop.launch.refused.v1',
    'desktop.code.issued.v1',
    'desktop.tokens.issued.v1',
    'desktop.chain.revoked.v1',
    'desktop.logout.delivered.v1',
    'desktop.logout.delivery.failed.v1',
  ],
  'launch-api': ['launch.url.issued.v1', 'launch.url.refused.v1'],
  'launch-gateway': ['launch.token.redeemed.v1', 'launch.token.refused.v1'],
  ordering: [
    'launch.session.ended.v1',
    'order.submitted.v1',
    'order.viewed.v1',
    'orders.listed.v1',
    'order.printed.v1',
  ],
  'order-renderer': [
    'order.document.rendered.v1',
    'order.document.returned.v1',
    'order.document.delivered.v1',
    'order.document.delivery.failed.v1',
  ],
  'audit-trail': ['audit.searched.v1', 'audit.session.started.v1', 'audit.refused.v1'],
  'resource-api': ['resource.read.v1', 'resource.refused.v1'],
} as const satisfies Readonly<Record<string, readonly EventType[]>>;

/**
 * The consumers by the name of their queue: the service, and the types that it wants (every type if none is
 * named). Every publisher declares these queues too, so that events wait there for a consumer's first start.
 */
export const eventConsumers: Readonly<
  Record<
    'audit-trail' | 'originating-ids' | 'order-renderer' | 'desktop-logout',
    { readonly service: ServiceName; readonly types?: readonly EventType[] }
  >
> = {
  'audit-trail': { service: 'audit-trail' },
  'originating-ids': { service: 'audit-trail', types: ['launch.url.issued.v1'] },
  'order-renderer': { service: 'order-renderer', types: ['order.submitted.v1'] },
  'desktop-logout': { service: 'identity-provider', types: ['desktop.chain.revoked.v1'] },
};

/** Returns the services that consume events of a service, and so the keys that it needs. */
export function listenersOf(source: ServiceName): readonly ServiceName[] {
  return [...new Set(eventSources[source].flatMap(listenersTo))];
}

/** Returns the services that consume events of a type. */
export const listenersTo = (type: EventType): readonly ServiceName[] => listenersByType.get(type) ?? [];

const listenersByType = new Map(
  (Object.keys(eventCatalogue) as EventType[]).map((type) => {
    const wanting = Object.values(eventConsumers).filter(({ types }) => types?.includes(type) ?? true);
    return [type, [...new Set(wanting.map(({ service }) => service))] as const];
  }),
);
