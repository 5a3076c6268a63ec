import { createHmac } from 'node:crypto';
import type { CallbackBody, CallbackHeaders } from './callback-schema.ts';

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

type Signed = {
  /**
   * The message id, which is the same in every attempt, so that the receiver recognises a repeated message.
   */
  readonly id: string;
  /** The time of this attempt, in milliseconds since 1970. */
  readonly now: number;
  readonly body: string;
  /**
   * The valid secrets, `whsec_...`. Each secret signs, so the receiver needs to know only the old or the new
   * secret.
   */
  readonly secrets: readonly string[];
};

/**
 * Returns the headers that authenticate the sender and the time (Standard Webhooks: Webhook headers,
 * Signature scheme `v1`).
 */
export function signatureHeaders({ id, now, body, secrets }: Signed): CallbackHeaders {
  const timestamp = String(Math.floor(now / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
