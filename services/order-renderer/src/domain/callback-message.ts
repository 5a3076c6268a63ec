import type { CallbackBody } from './callback-schema.ts';

/** An order document that is posted to the callback address of its practice system. */
export type CallbackDocument = {
  readonly orderGuid: string;
  readonly orderVersion: number;
  readonly launchId: string;
  readonly messageId: string;
  /** The time at which the document was created. */
  readonly renderedAt: Date;
  readonly xml: string;
};

/**
 * Returns the body of a callback. The body is the same at every attempt (Standard Webhooks: Payload
 * structure).
 */
export function callbackBody(document: CallbackDocument): string {
  const { orderGuid, orderVersion, launchId, messageId, renderedAt, xml } = document;
  const body: CallbackBody = {
    type: 'order.document',
    timestamp: renderedAt.toISOString(),
    data: { orderGuid, orderVersion, launchId, messageId, document: xml },
  };
  return JSON.stringify(body);
}
