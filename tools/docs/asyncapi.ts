/**
 * Builds `docs/asyncapi.yaml`, the AsyncAPI 3.0 document of the events on the bus and of the callbacks. The
 * sources are the event catalogue and the callback schemas.
 */
import { isDeepStrictEqual } from 'node:util';
import { type EventType, eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import {
  cloudEventSchema,
  eventConsumers,
  eventSources,
  listenersTo,
} from '@clinical-launch/contracts/events/cloud-event';
import { callbackHeadersSchema, callbackSchema } from '@clinical-launch/contracts/order/callback';
import { type JsonSchema, publishedSchema } from '@clinical-launch/contracts/published/schema';
import { contentType } from '@clinical-launch/events/confirmed-publish';
import { exchangesOf, topologyOf } from '@clinical-launch/events/rabbitmq-topology';
import { stringify } from 'yaml';

const topology = topologyOf();
const types = Object.keys(eventCatalogue) as EventType[];
const sources = Object.entries(eventSources);

export const asyncApiFile = new URL('../../docs/asyncapi.yaml', import.meta.url);

/** Returns the text of `docs/asyncapi.yaml`. */
export function asyncApiText(): string {
  return `# Written by \`npm run docs\`. Change the event catalogue or the callback schemas instead.\n${stringify(asyncApiDocument(), { singleQuote: true })}`;
}

/** Returns the document as JSON. */
export function asyncApiDocument(): JsonSchema {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Clinical Launch: events and callbacks',
      version: '1.0.0',
      description:
        'The events between the services, and the messages that the platform posts to partners. Every event is delivered at least once, so detect duplicates by `id`. Ignore unknown members, which newer releases may add. No event contains unencrypted patient data.',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: contentType,
    servers: {
      broker: {
        host: '{broker}',
        protocol: 'amqp',
        protocolVersion: '0.9.1',
        description: 'The RabbitMQ of the platform (`AMQP_URL`).',
        variables: { broker: { default: 'localhost:5672' } },
      },
    },
    channels: { events: eventChannel(), orderDocument, logoutToken },
    operations: { ...eventOperations(), ...callbackOperations },
    components: {
      messages: Object.fromEntries(types.map((type) => [type, eventMessage(type)])),
      schemas: { CloudEvent: publishedSchema(cloudEventSchema), ...sharedSchemas },
    },
  };
}

type DataSchema = JsonSchema & { readonly properties?: Readonly<Record<string, unknown>> };

/** The members of events that every event writes in the same way. */
const sharedSchemas = Object.fromEntries(
  ['user', 'practice', 'patient', 'address'].map((name) => [
    name,
    types
      .map((type) => (publishedSchema(eventCatalogue[type]) as DataSchema).properties?.[name])
      .find((schema) => schema !== undefined),
  ]),
);

/** Replaces the shared members of a schema by references to `components.schemas`. */
function withReferences({ properties = {}, ...schema }: DataSchema): JsonSchema {
  const members = Object.entries(properties).map(([name, member]) => [
    name,
    isDeepStrictEqual(member, sharedSchemas[name]) ? { $ref: `#/components/schemas/${name}` } : member,
  ]);
  return { ...schema, properties: Object.fromEntries(members) };
}

function eventChannel(): JsonSchema {
  const [exchange] = exchangesOf(topology).filter(({ name }) => name === topology.events);
  return {
    address: '{type}',
    title: 'Events of the platform',
    description: 'The type of an event is its routing key.',
    servers: [{ $ref: '#/servers/broker' }],
    parameters: { type: { description: 'The type of the event.', enum: types } },
    messages: Object.fromEntries(types.map((type) => [type, { $ref: `#/components/messages/${type}` }])),
    bindings: {
      amqp: {
        is: 'routingKey',
        exchange: { ...exchange, durable: true, autoDelete: false },
        bindingVersion: '0.3.0',
      },
    },
  };
}

/** Returns the whole message: envelope and data (CloudEvents AMQP binding section 3.2, structured mode). */
function eventMessage(type: EventType): JsonSchema {
  const senders = sources
    .filter(([, reported]) => reported.some((one) => one === type))
    .map(([name]) => name);
  return {
    name: type,
    title: type,
    summary: `Sent by ${senders.join(', ')}. Received by ${listenersTo(type).join(', ')}.`,
    contentType,
    headers: {
      type: 'object',
      properties: { traceparent: { type: 'string', description: 'W3C Trace Context, as in the event.' } },
    },
    payload: {
      allOf: [
        { $ref: '#/components/schemas/CloudEvent' },
        {
          type: 'object',
          properties: {
            type: { const: type },
            source: { type: 'string', enum: senders.map((name) => `/${name}`) },
            data: withReferences(publishedSchema(eventCatalogue[type])),
          },
        },
      ],
    },
  };
}

const messageOf = (type: EventType) => ({ $ref: `#/channels/events/messages/${type}` });

/** Returns one operation for each service that sends events, and one for each queue. */
function eventOperations(): Record<string, JsonSchema> {
  const channel = { $ref: '#/channels/events' };
  const sending = sources.map(([service, reported]) => [
    `${service}.sends`,
    {
      action: 'send',
      channel,
      summary: `The events that ${service} sends.`,
      messages: reported.map(messageOf),
    },
  ]);
  const receiving = Object.entries(eventConsumers).map(([name, { service, types: wanted = types }]) => [
    `${name}.receives`,
    {
      action: 'receive',
      channel,
      summary: `The events that the queue ${topology.queueOf(name)} of ${service} receives.`,
      messages: wanted.map(messageOf),
    },
  ]);
  return Object.fromEntries([...sending, ...receiving]);
}

const address = (description: string) => ({
  address: '{url}',
  parameters: { url: { description } },
});

const orderDocument = {
  ...address('The callback address that the operator registered for the practice management system.'),
  title: 'Order documents',
  messages: {
    orderDocument: {
      name: 'order.document',
      title: 'A submitted or amended order',
      description:
        'Signed according to Standard Webhooks. Retried with increasing delays until the answer is 2xx.',
      contentType: 'application/json',
      headers: publishedSchema(callbackHeadersSchema),
      payload: publishedSchema(callbackSchema),
    },
  },
};

const logoutToken = {
  ...address('The `backchannelLogoutUri` that the operator registered for the partner application.'),
  title: 'Logout tokens',
  messages: {
    logoutToken: {
      name: 'logout_token',
      title: 'A revoked desktop launch',
      description:
        'OpenID Connect Back-Channel Logout 1.0 section 2.5. Retried with increasing delays until it is accepted.',
      contentType: 'application/x-www-form-urlencoded',
      payload: {
        type: 'object',
        properties: {
          logout_token: {
            type: 'string',
            description: 'A JWT (`logout+jwt`) whose `sid` identifies the launch.',
          },
        },
        required: ['logout_token'],
      },
    },
  },
};

const posted = { http: { method: 'POST', bindingVersion: '0.3.0' } };
const callbackOperations = {
  'order-renderer.posts': {
    action: 'send',
    channel: { $ref: '#/channels/orderDocument' },
    summary: 'Posts an order document to its practice management system.',
    bindings: posted,
  },
  'identity-provider.posts': {
    action: 'send',
    channel: { $ref: '#/channels/logoutToken' },
    summary: 'Posts a logout token to a partner application.',
    bindings: posted,
  },
};
