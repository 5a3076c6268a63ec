import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { type ClientRequest, type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { type LookupFunction } from 'node:net';
import type { NetworkGuard } from '../domain/network-guard.ts';
import type { FailureReason } from '../domain/retry.ts';

/*
 * Posts to an address that somebody else chose. The name is looked up once, what it leads to is checked, and the
 * connection goes to what was checked: a name that leads elsewhere a moment later (DNS rebinding) changes nothing. No
 * redirect is followed, no proxy and no kept connection is used, and of the answer the status counts alone.
 */

export type Post = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** What a host name or address leads to at this moment. */
export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

/** As the system resolves names: by its hosts file and its name servers. */
export const resolveBySystem: ResolveName = (hostname) => lookup(hostname, { all: true });

export type PostTerms = {
  readonly guard: NetworkGuard;
  readonly resolve: ResolveName;
  /** Where the address was given by the operator and not by the registry, nothing has to be guarded. */
  readonly isOperators: boolean;
  readonly connectTimeoutMs: number;
  /** For all of it. */
  readonly timeoutMs: number;
  /** Ends it early. */
  readonly signal: AbortSignal;
};

export type PostResult =
  | { readonly outcome: 'answered'; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly outcome: 'failed'; readonly reason: FailureReason; readonly cause?: unknown }
  | { readonly outcome: 'interrupted' };

/** Posts once. Nothing of the answer's body is kept; whatever goes wrong is told in the result. */
export async function postCallback(post: Post, terms: PostTerms): Promise<PostResult> {
  const late = AbortSignal.timeout(terms.timeoutMs);
  const connecting = new AbortController();
  const signal = AbortSignal.any([terms.signal, late, connecting.signal]);
  try {
    const found = await unlessAborted(terms.resolve(hostOf(post.url)), signal);
    const targets = permitted(found, post.url, terms);
    if ('reason' in targets) return { outcome: 'failed', reason: targets.reason };
    const sending = send(post, targets.addresses, signal);
    endWhenNotConnected(sending, connecting, terms.connectTimeoutMs);
    return await answerTo(sending);
  } catch (cause) {
    if (terms.signal.aborted) return { outcome: 'interrupted' };
    if (signal.aborted) return { outcome: 'failed', reason: 'timeout' };
    return { outcome: 'failed', reason: reasonOf(cause), cause };
  }
}

/** An IPv6 address stands in brackets in a URL. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1');

type Targets = { readonly addresses: readonly LookupAddress[] } | { readonly reason: FailureReason };

/** The addresses that may be posted to: of the allowed networks, and by https of the public internet. */
function permitted(
  found: readonly LookupAddress[],
  url: URL,
  { guard, isOperators }: Pick<PostTerms, 'guard' | 'isOperators'>,
): Targets {
  const allowed = found.filter(({ address }) => isOperators || guard.isAllowed(address));
  const reachable = found.filter(({ address }) => guard.isPublic(address));
  if (allowed.length > 0) return { addresses: allowed };
  if (reachable.length === 0) return { reason: 'address_refused' };
  return url.protocol === 'https:' ? { addresses: reachable } : { reason: 'insecure_address' };
}

function send(
  { url, headers, body }: Post,
  addresses: readonly LookupAddress[],
  signal: AbortSignal,
): ClientRequest {
  const request = url.protocol === 'https:' ? requestByHttps : requestByHttp;
  const sending = request(url, {
    method: 'POST',
    headers: {
      ...headers,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'User-Agent': 'clinical-launch',
    },
    // A connection of its own, so that what is checked is what is used.
    agent: false,
    lookup: leadingTo(addresses),
    signal,
  });
  sending.end(body);
  return sending;
}

/** Stands in for the name server. It is not asked for a host that is an address, and needs not be: that was checked. */
function leadingTo(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

function endWhenNotConnected(sending: ClientRequest, connecting: AbortController, timeoutMs: number): void {
  const timer = setTimeout(() => connecting.abort(), timeoutMs);
  const isConnected = () => clearTimeout(timer);
  sending.once('close', isConnected).once('socket', (socket) => {
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', isConnected);
  });
}

async function answerTo(sending: ClientRequest): Promise<PostResult> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // It stays: an error after the answer is nobody's concern any more.
    sending.on('error', reject).once('response', resolve);
  });
  await discard(response);
  const { statusCode: status = 0, headers } = response;
  return { outcome: 'answered', status, retryAfter: headers['retry-after'] };
}

const discardedBytes = 64 * 1024;
const discardedWithinMs = 2000;

/** Reads a usual answer to its end, so that its sender sees no broken connection; leaves any other one. */
async function discard(response: IncomingMessage): Promise<void> {
  let seen = 0;
  const leave = setTimeout(() => response.destroy(), discardedWithinMs);
  await new Promise<void>((resolve) => {
    response
      .on('error', () => undefined)
      .once('close', resolve)
      .on('data', (chunk: Buffer) => {
        seen += chunk.length;
        if (seen > discardedBytes) response.destroy();
      });
  });
  clearTimeout(leave);
}

async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

const certificateFaults = /^(CERT_|ERR_TLS_CERT|ERR_SSL|EPROTO|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_)/;

function reasonOf(cause: unknown): FailureReason {
  const { code, syscall } = cause as { code?: unknown; syscall?: unknown };
  if (syscall === 'getaddrinfo') return 'unresolved';
  if (typeof code !== 'string') return 'unreachable';
  if (code.startsWith('HPE_')) return 'bad_answer';
  return certificateFaults.test(code) ? 'untrusted_certificate' : 'unreachable';
}
