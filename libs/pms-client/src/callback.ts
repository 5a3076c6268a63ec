import { createHmac, timingSafeEqual } from 'node:crypto';
import { isRecord } from './json-answer.ts';

/** A callback that delivered an order document. The same document may be delivered more than once. */
export type OrderDocumentCallback = {
  /**
   * The id of the delivery, which is the same in every attempt. Store it with the document. If you have
   * already stored this id, answer 2xx and do not file the document again.
   */
  readonly id: string;
  readonly type: 'order.document';
  /** The time at which the document was created (RFC 3339). */
  readonly timestamp: string;
  readonly data: {
    readonly orderGuid: string;
    /** The version of the order in the document. Do not replace a newer version with an older version. */
    readonly orderVersion: number;
    /** The correlation id of the launch in which the order was submitted. */
    readonly launchId: string;
    readonly messageId: string;
    /** The order document (XML) as text. */
    readonly document: string;
  };
};

/**
 * The reason why a callback was refused. `stale` means that its timestamp is too far from the current time,
 * so that it may be a replay. `malformed` means that the signature is valid, but the body contains no order
 * document.
 */
export type CallbackFault = 'missing_header' | 'stale' | 'bad_signature' | 'malformed';

/** The error that is thrown if a callback must not be processed. Answer such a callback with 400. */
export class CallbackRefused extends Error {
  readonly code: CallbackFault;

  constructor(code: CallbackFault, message: string) {
    super(message);
    this.name = 'CallbackRefused';
    this.code = code;
  }
}

/**
 * The headers of a request: a `Headers` object of fetch, or the headers object of node:http or Express, whose
 * names are in lower case.
 */
export type CallbackHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A received callback, and the secrets to verify it with. */
export type CallbackToVerify = {
  readonly headers: CallbackHeaders;
  /** The body as received. A body that was parsed and serialised again has a different signature. */
  readonly body: string | Uint8Array;
  /** The current secret (`whsec_...`). During a rotation, the old secret and the new secret. */
  readonly secrets: readonly string[];
  /** Returns milliseconds since 1970. By default, the system clock. */
  readonly now?: () => number;
  /**
   * The maximum difference between the timestamp of the callback and the current time. By default, 300
   * seconds.
   */
  readonly toleranceSeconds?: number;
};

/**
 * Verifies the signature and the timestamp of a callback (Standard Webhooks, signature scheme `v1`). Returns
 * the content of the callback.
 *
 * @example
 * ```ts
 * // Verify the raw body, because no signature matches a body that express.json() has parsed.
 * const rawJson = express.raw({ type: 'application/json', limit: '1mb' });
 * app.post('/callbacks', rawJson, async (request, response) => {
 *   const { id, data } = verifyCallback({ headers: request.headers, body: request.body, secrets });
 *   await fileOnce(id, data);
 *   response.status(204).end();
 * });
 * ```
 * @throws CallbackRefused with the reason in `code`. Answer such a callback with 400.
 * @throws TypeError if a secret is not `whsec_` followed by at least 24 bytes in Base64.
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
    throw new CallbackRefused('bad_signature', 'The signature does not match any of the secrets');
  const ageSeconds = Math.abs(now() / 1000 - (/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN));
  // For NaN, the comparison is false, so a timestamp that is not a number is also refused.
  if (!(ageSeconds <= toleranceSeconds))
    throw new CallbackRefused(
      'stale',
      `The time of the callback is more than ${toleranceSeconds} seconds from now`,
    );
  return { id, ...read(bytes) };
}

function headerOf(headers: CallbackHeaders, name: string): string {
  const value = isFetchHeaders(headers) ? headers.get(name) : headers[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new CallbackRefused('missing_header', `The header ${name} is required once`);
}

/** Returns true if the headers are a `Headers` object of any fetch implementation. */
const isFetchHeaders = (headers: CallbackHeaders): headers is { get(name: string): string | null } =>
  typeof headers.get === 'function';

function keyOf(secret: string): Buffer {
  const [, text] = /^whsec_([A-Za-z0-9+/]{32,}={0,2})$/.exec(secret) ?? [];
  if (text === undefined)
    throw new TypeError('A callback secret must be whsec_ and at least 24 bytes in Base64');
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
  throw new CallbackRefused('malformed', 'The signature is valid, but the body contains no order document');
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
