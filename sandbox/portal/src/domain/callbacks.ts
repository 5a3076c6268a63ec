import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { signatureHeaders } from '@clinical-launch/crypto/webhook-signature';

export const testKinds = ['valid', 'wrong-signature', 'old', 'duplicate'] as const;
export type TestKind = (typeof testKinds)[number];

export type Attempt = {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The address of the developer. Absent if the client had no receiver. */
  readonly receiver?: string;
  /** The status of the answer. Absent if there was no answer. */
  readonly status?: number;
  /** The reason why nothing was sent. */
  readonly refusal?: 'address_refused' | 'insecure_address';
};

/** A signed order document for a client. */
export type Callback = {
  /** The `webhook-id`. */
  readonly id: string;
  /** The cause of the callback: an order, a conformance run, or a test that the developer requested. */
  readonly kind: 'delivery' | 'run' | TestKind;
  readonly body: string;
};

/** The headers `webhook-*` and `content-type` of a callback, and its body. */
export type Message = { readonly headers: Readonly<Record<string, string>>; readonly body: string };

/** The seconds by which the time of a callback may differ from the clock (docs/guides/pms.md). */
const toleranceSeconds = 300;

type Signature = { readonly id: string; readonly signedAt: number; readonly signatures: readonly string[] };

/**
 * Reads the headers that sign a callback, without its body. Returns undefined if one is missing or invalid, or
 * if the time differs from `now`, in milliseconds since 1970, by more than five minutes.
 */
export function findSignature(headers: IncomingHttpHeaders, now: number): Signature | undefined {
  const [id = '', timestamp = '', signatures = ''] = [
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
  ].map((name) => String(headers[name] ?? ''));
  const isValid = /^[\w.-]{1,100}$/.test(id) && /^[1-9]\d{0,11}$/.test(timestamp) && signatures !== '';
  const signedAt = Number(timestamp) * 1000;
  if (!isValid || Math.abs(now - signedAt) > toleranceSeconds * 1000) return undefined;
  return { id, signedAt, signatures: signatures.split(' ') };
}

/** Returns true if one of the secrets (`whsec_...`) signed the body (Standard Webhooks, signature scheme `v1`). */
export function isSigned(
  body: string,
  { id, signedAt, signatures, secrets }: Signature & { readonly secrets: readonly string[] },
): boolean {
  if (secrets.length === 0) return false;
  const expected = signatureHeaders({ id, now: signedAt, body, secrets })['webhook-signature'].split(' ');
  const digests = signatures.map((one) => hash('sha256', one, 'buffer'));
  return expected.some((one) =>
    digests.some((other) => timingSafeEqual(hash('sha256', one, 'buffer'), other)),
  );
}

/**
 * Returns a sentence that corrects the address that a developer entered, or undefined if the address is valid.
 * Does not check its network, because a host name can resolve to another network later. Each request checks it.
 */
export function addressFault(address: string, publicUrl: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol))
    return 'Enter an address that begins with https://, such as https://pms.example/callbacks';
  if (url.username !== '' || url.password !== '')
    return 'Enter an address without a user name and a password';
  // The portal would send each callback to itself in an endless loop.
  if (url.origin === new URL(publicUrl).origin) return 'Enter the address of your own system';
  return undefined;
}
