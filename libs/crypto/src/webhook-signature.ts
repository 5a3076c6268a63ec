import { createHmac } from 'node:crypto';

type SignedMessage = {
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

export type SignatureHeaders = {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
};

/**
 * Returns the headers that authenticate the sender and the time (Standard Webhooks: Webhook headers,
 * Signature scheme `v1`).
 */
export function signatureHeaders({ id, now, body, secrets }: SignedMessage): SignatureHeaders {
  const timestamp = String(Math.floor(now / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
