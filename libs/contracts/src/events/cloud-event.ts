import { randomUUID } from 'node:crypto';
import { faultWithin } from '../fault.ts';
import { compileSchema, guidPattern, withUnknownMembers } from '../schema.ts';
import { optionalText, type TSchema, Type } from '../type.ts';
import { type EventData, type EventType, eventCatalogue } from './catalogue.ts';

/**
 * A CloudEvents 1.0 event in structured mode, with the extension `correlationid` and the extension for
 * distributed tracing.
 */
export type CloudEvent<T extends EventType = EventType> = {
  readonly specversion: '1.0';
  readonly id: string;
  /** The service that publishes the event, as a path: `/launch-api`. */
  readonly source: string;
  readonly type: T;
  /** RFC 3339 in UTC with milliseconds. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly correlationid: string;
  readonly traceparent: string;
  readonly data: EventData<T>;
  /**
   * Message authentication codes, with which each consuming service verifies which service wrote the event
   * (`createEventWriter`). Absent until the service writes the event to its outbox or to the bus.
   */
  readonly macs?: string;
};

/** An event, and its JSON text exactly as its service wrote it, including `macs`. */
export type WrittenEvent = { readonly event: CloudEvent; readonly text: string };

export type EventOrigin = {
  readonly source: string;
  readonly correlationId: string;
  readonly traceparent: string;
  readonly now: Date;
};

const eventMacsPattern = '^[a-z-]+=[\\w-]{43}(,[a-z-]+=[\\w-]{43})*$';

/** The schema of a CloudEvents envelope. The catalogue contains the schemas of `data`. */
export const cloudEventSchema = Type.Object(
  {
    specversion: Type.Literal('1.0'),
    id: Type.String({ pattern: guidPattern }),
    source: Type.String({ pattern: '^/[a-z-]+$' }),
    type: Type.String(),
    time: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
    datacontenttype: Type.Literal('application/json'),
    correlationid: Type.String({ pattern: guidPattern }),
    traceparent: Type.String({ pattern: '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' }),
    data: Type.Object({}),
    macs: optionalText({ pattern: eventMacsPattern, maxLength: 1000 }),
  },
  { additionalProperties: false },
);

type EventChecks = {
  readonly envelope: ReturnType<typeof compileSchema>;
  /**
   * Compiles the schema of an event type at its first use. A process handles few types, and compiling every
   * schema would take a tenth of its start time.
   */
  readonly dataOf: (type: EventType) => ReturnType<typeof compileSchema>;
};

function createChecks(prepare: <S extends TSchema>(schema: S) => S): EventChecks {
  const checks = new Map<EventType, ReturnType<typeof compileSchema>>();
  return {
    envelope: compileSchema(prepare(cloudEventSchema)),
    dataOf(type) {
      const known = checks.get(type);
      if (known !== undefined) return known;
      const made = compileSchema(prepare(eventCatalogue[type] as TSchema));
      checks.set(type, made);
      return made;
    },
  };
}

const asSent = createChecks((schema) => schema);
const asReceived = createChecks(withUnknownMembers);

const isEventType = (type: unknown): type is EventType =>
  typeof type === 'string' && Object.hasOwn(eventCatalogue, type);

/**
 * Creates an event with a random id. Does not validate `data`. `assertCloudEvent` validates it before the
 * event is published.
 */
export function createEvent<T extends EventType>(
  type: T,
  origin: EventOrigin,
  data: EventData<T>,
): CloudEvent<T> {
  return {
    specversion: '1.0',
    id: randomUUID(),
    source: origin.source,
    type,
    time: origin.now.toISOString(),
    datacontenttype: 'application/json',
    correlationid: origin.correlationId,
    traceparent: origin.traceparent,
    data,
  };
}

/** An event that an outbox set aside because it is invalid and can never be published. */
export type RejectedEvent = {
  /** The table row or the stream entry that contains the event. */
  readonly place: string;
  /** The reason why the event is invalid, with paths but without values. */
  readonly reason: string;
};

/**
 * Checks the envelope and the data of an event before it is sent. Refuses members that are not in the
 * catalogue, because they could contain patient data.
 * @throws TypeError that lists the invalid paths, without values
 */
export function assertCloudEvent(candidate: unknown): asserts candidate is CloudEvent {
  assertFaultless(faultOfEvent(candidate, asSent));
}

/**
 * Checks an event for a relay or a consumer. Unlike `assertCloudEvent`, accepts unknown members, because a
 * newer release may have sent the event (CloudEvents 1.0, "Extension Context Attributes").
 * @throws TypeError that lists the invalid paths, without values
 */
export function assertReceivedEvent(candidate: unknown): asserts candidate is CloudEvent {
  assertFaultless(faultOfReceivedEvent(candidate));
}

/**
 * Returns the reason why a relay or a consumer must refuse an event, with paths but without values. Returns
 * undefined for a valid event.
 */
export const faultOfReceivedEvent = (candidate: unknown): string | undefined =>
  faultOfEvent(candidate, asReceived);

function assertFaultless(fault: string | undefined): void {
  if (fault !== undefined) throw new TypeError(fault);
}

function faultOfEvent(candidate: unknown, { envelope, dataOf }: EventChecks): string | undefined {
  const faults = envelope.faultsOf(candidate);
  const { type, data } = (candidate ?? {}) as { type?: unknown; data?: unknown };
  if (!isEventType(type)) return 'The type of the event is not in the catalogue';
  faults.push(
    ...dataOf(type)
      .faultsOf(data)
      .map((fault) => faultWithin('data', fault)),
  );
  if (faults.length === 0) return undefined;
  const described = faults.map(({ path, message }) => `${path} ${message}`).join('; ');
  return `The event ${type} does not match the catalogue: ${described}`;
}

/** A source of events. The `source` of its events is this name after a slash: `/launch-api`. */
export type EventSource = keyof typeof eventSources;

/** The name of a service. Excludes the operator's commands, which also write events but are not a service. */
export type ServiceName = Exclude<EventSource, 'operator'>;

/**
 * The event types that each source publishes. Consumers reject an event whose type its source may not
 * publish.
 */
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
    'launches.ended.v1',
    'desktop.logout.delivered.v1',
    'desktop.logout.delivery.failed.v1',
  ],
  'launch-api': ['launch.url.issued.v1', 'launch.url.refused.v1'],
  'launch-gateway': ['launch.token.redeemed.v1', 'launch.token.refused.v1'],
  ordering: [
    'launch.session.ended.v1',
    'launch.window.locked.v1',
    'launch.window.unlocked.v1',
    'order.submitted.v1',
    'order.viewed.v1',
    'orders.listed.v1',
    'order.printed.v1',
    'order.patient.confirmed.v1',
  ],
  'order-renderer': [
    'order.document.rendered.v1',
    'order.document.returned.v1',
    'order.document.delivered.v1',
    'order.document.delivery.failed.v1',
  ],
  'audit-trail': ['audit.searched.v1', 'audit.session.started.v1', 'audit.refused.v1'],
  'resource-api': ['resource.read.v1', 'resource.refused.v1'],
  operator: ['launch.ended.v1', 'desktop.chain.revoked.v1', 'launches.ended.v1'],
} as const satisfies Readonly<Record<string, readonly EventType[]>>;

/**
 * The service and the event types of each consumer, by the name of its queue. A consumer without `types`
 * receives every type. Every publisher declares these queues too, so that events wait in a queue until its
 * consumer starts for the first time.
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

/** Returns the services that consume events of `source`. The source needs a signing key for each of them. */
export function listenersOf(source: EventSource): readonly ServiceName[] {
  return [...new Set(eventSources[source].flatMap(listenersTo))];
}

/** Returns the services that consume events of this type. */
export const listenersTo = (type: EventType): readonly ServiceName[] => listenersByType.get(type) ?? [];

const listenersByType = new Map(
  (Object.keys(eventCatalogue) as EventType[]).map((type) => {
    const wanting = Object.values(eventConsumers).filter(({ types }) => types?.includes(type) ?? true);
    return [type, [...new Set(wanting.map(({ service }) => service))] as const];
  }),
);
