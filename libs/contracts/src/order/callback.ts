import { guidPattern } from '../schema.ts';
import { type Static, Type } from '../type.ts';

const guid = Type.String({ pattern: guidPattern });

/** The body of a callback (Standard Webhooks: Payload structure). */
export const callbackSchema = Type.Object({
  type: Type.Literal('order.document'),
  timestamp: Type.String({ format: 'date-time', description: 'The time at which the document was created.' }),
  data: Type.Object({
    orderGuid: guid,
    orderVersion: Type.Integer({
      minimum: 1,
      description: 'Increases with each amendment. If you have a higher version, ignore this document.',
    }),
    launchId: Type.String({
      pattern: guidPattern,
      description: 'The `X-Correlation-Id` of the launch URL that led to this order.',
    }),
    messageId: guid,
    document: Type.String({
      description: 'The order document: XML, described by `/AccessApi/schemas/order.xsd`.',
    }),
  }),
});

/** The headers that authenticate the sender and the time (Standard Webhooks: Webhook headers). */
export const callbackHeadersSchema = Type.Object({
  'webhook-id': Type.String({
    description: 'Identical in every attempt. Use it to recognise a message that you already received.',
  }),
  'webhook-timestamp': Type.String({ pattern: '^\\d+$', description: 'Seconds since 1970.' }),
  'webhook-signature': Type.String({
    pattern: '^v1,[A-Za-z0-9+/]+={0,2}( v1,[A-Za-z0-9+/]+={0,2})*$',
    description: 'HMAC-SHA-256 of `id.timestamp.body`, one for each valid secret.',
  }),
});

/** An order document that is posted to the callback address of its practice system. */
export type CallbackDocument = {
  readonly orderGuid: string;
  readonly orderVersion: number;
  readonly launchId: string;
  readonly messageId: string;
  readonly renderedAt: Date;
  readonly xml: string;
};

/**
 * Returns the body of a callback. The body is the same at every attempt (Standard Webhooks: Payload
 * structure).
 */
export function callbackBody(document: CallbackDocument): string {
  const { orderGuid, orderVersion, launchId, messageId, renderedAt, xml } = document;
  const body: Static<typeof callbackSchema> = {
    type: 'order.document',
    timestamp: renderedAt.toISOString(),
    data: { orderGuid, orderVersion, launchId, messageId, document: xml },
  };
  return JSON.stringify(body);
}
