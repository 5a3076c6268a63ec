import { createHmac, timingSafeEqual } from 'node:crypto';
import { isRecord } from './json-answer.ts';

/** An order document that came by callback. The same one may come more than once: `id` tells. */
export type OrderDocumentCallback = {
  /** The same at every attempt; keep it, and answer 2xx to one that you have already. */
  readonly id: string;
  readonly type: 'order.document';
  /** When the document was made, RFC 3339. */
  readonly timestamp: string;
  readonly data: {
    readonly orderGuid: string;
    /** Which state of the order the document shows; file none over a newer one. */
    readonly orderVersion: number;
    /** The correlation id of the launch in which the order was submitted. */
    readonly launchId: string;
    readonly messageId: string;
    /** The XML. */
    readonly document: string;
  };
};

/**
 * Why a callback is not to be believed: `missing_header`, `stale` (its time is too far from now: it may be a replay),
 * `bad_signature`, or, signed well, `malformed`.
 */
export type CallbackFault = 'missing_header' | 'stale' | 'bad_signature' | 'malformed';

/** A callback that is to be answered 400 and not used. */
export class CallbackRefused extends Error {
  readonly code: CallbackFault;

  constructor(code: CallbackFault, message: string) {
    super(message);
    this.name = 'CallbackRefused';
    this.code = code;
  }
}

export type CallbackToVerify = {
  /** As node:http, Express or fetch have them. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Exactly as it came: parsed and written again, it has another signature. */
  readonly body: string | Uint8Array;
  /** The `whsec_...` that are live: one, or two while one is rolled. */
  readonly secrets: readonly string[];
  /** Milliseconds since 1970; the machine's clock by default. */
  readonly now?: () => number;
  readonly toleranceSeconds?: number;
};

/**
 * Checks that a callback is ours and fresh (Standard Webhooks, signature scheme `v1`) and reads it.
 * @throws CallbackRefused; TypeError when a secret is none
 */
export function verifyCallback({
  headers,
  body,
  secrets,
  now = Date.now,
  toleranceSeconds = 300,
}: CallbackToVerify): OrderDocumentCallback {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const expected = secrets.map((secret) => signatureOf(keyOf(secret), { id, timestamp, bytes }));
  if (!expected.some((one) => signatures.some((sent) => isSame(sent, one))))
    throw new CallbackRefused('bad_signature', 'No signature is by one of our secrets');
  const ageSeconds = Math.abs(now() / 1000 - (/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN));
  // Written so that a time that is none is refused too.
  if (!(ageSeconds <= toleranceSeconds)) throw new CallbackRefused('stale', 'It was not sent just now');
  return { id, ...read(bytes) };
}

function headerOf(headers: CallbackToVerify['headers'], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new CallbackRefused('missing_header', `It needs one header ${name}`);
}

function keyOf(secret: string): Buffer {
  const [, text] = /^whsec_([A-Za-z0-9+/]{32,}={0,2})$/.exec(secret) ?? [];
  if (text === undefined)
    throw new TypeError('A secret of callbacks is whsec_ and 24 bytes or more in Base64');
  return Buffer.from(text, 'base64');
}

type Signed = { readonly id: string; readonly timestamp: string; readonly bytes: Uint8Array };

const signatureOf = (key: Buffer, { id, timestamp, bytes }: Signed) =>
  `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(bytes).digest('base64')}`;

function isSame(sent: string, expected: string): boolean {
  const [one, other] = [Buffer.from(sent), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function read(bytes: Uint8Array): Omit<OrderDocumentCallback, 'id'> {
  const callback = parse(bytes);
  if (isCallback(callback)) return callback;
  throw new CallbackRefused('malformed', 'It is signed, and tells of no order document');
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

const texts = ['orderGuid', 'launchId', 'messageId', 'document'];

function isCallback(value: unknown): value is Omit<OrderDocumentCallback, 'id'> {
  if (!isRecord(value) || value['type'] !== 'order.document' || typeof value['timestamp'] !== 'string')
    return false;
  const { data } = value;
  return (
    isRecord(data) &&
    Number.isInteger(data['orderVersion']) &&
    texts.every((name) => typeof data[name] === 'string')
  );
}
