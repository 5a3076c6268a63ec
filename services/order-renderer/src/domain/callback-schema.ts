import { guidPattern } from '@clinical-launch/contracts';
import { type Static, Type } from 'typebox';

const guid = Type.String({ pattern: guidPattern });

/** The body of a callback (Standard Webhooks: Payload structure). */
export const callbackSchema = Type.Object({
  type: Type.Literal('order.document'),
  timestamp: Type.String({ format: 'date-time', description: 'When the document was made.' }),
  data: Type.Object({
    orderGuid: guid,
    orderVersion: Type.Integer({
      minimum: 1,
      description:
        'Rises with each amendment. A document of a lower version than one you have is out of date.',
    }),
    launchId: Type.String({
      pattern: guidPattern,
      description: 'The `X-Correlation-Id` of the launch URL that it came of.',
    }),
    messageId: guid,
    document: Type.String({
      description: 'The order document: XML, as `/AccessApi/schemas/order.xsd` has it.',
    }),
  }),
});
export type CallbackBody = Static<typeof callbackSchema>;

/** The headers that say who sends it, and when (Standard Webhooks: Webhook headers). */
export const callbackHeadersSchema = Type.Object({
  'webhook-id': Type.String({ description: 'The same at every attempt: by it you know what you had.' }),
  'webhook-timestamp': Type.String({ pattern: '^\\d+$', description: 'Seconds since 1970.' }),
  'webhook-signature': Type.String({
    pattern: '^v1,[A-Za-z0-9+/]+={0,2}( v1,[A-Za-z0-9+/]+={0,2})*$',
    description: 'HMAC-SHA-256 of `id.timestamp.body`, one for each live secret.',
  }),
});
export type CallbackHeaders = Static<typeof callbackHeadersSchema>;
