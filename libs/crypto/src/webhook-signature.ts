import { createHmac } from 'node:crypto';
import { callbackSecretPurpose, type RegisteredCallback } from '@clinical-launch/contracts/registry';
import type { Sealer } from './sealing.ts';

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

type SignatureHeaders = {
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

/**
 * Decrypts the unexpired secrets of a callback, `whsec_...`. Skips a secret that cannot be decrypted, so that
 * the other secret still signs.
 * @param now milliseconds since 1970
 */
export function openCallbackSecrets({ secrets }: RegisteredCallback, sealer: Sealer, now: number): string[] {
  const live = secrets.filter(({ expires }) => expires === undefined || Date.parse(expires) > now);
  return live.flatMap(({ sealed }) => {
    try {
      const opened = sealer.open(callbackSecretPurpose, sealed, []);
      return typeof opened === 'string' ? [opened] : [];
    } catch {
      return [];
    }
  });
}
