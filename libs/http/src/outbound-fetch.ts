import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as requestByHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { within } from '@clinical-launch/runtime/clock';
import { inChildSpan, markFailed, type Span, toTraceparent } from '@clinical-launch/runtime/tracing';
import { createNetworkGuard, type NetworkGuard } from './network-guard.ts';
import { http } from './node-http.ts';
import { failureOf, OutboundError } from './outbound-error.ts';

/*
 * Requests to addresses that others chose: keys and discovery of trusted issuers, launch URLs, callbacks. The
 * name is resolved once, its addresses are checked, and the connection goes to a checked address. So a name
 * that later resolves to another address (DNS rebinding) changes nothing. Follows no redirect, uses no proxy
 * and reuses no connection.
 */

/** Resolves a host name, or an address, to addresses. */
export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Resolves as the operating system does: by its hosts file and its name servers. */
export const resolveBySystem: ResolveName = (hostname) => lookup(hostname, { all: true });

export type OutboundOptions = {
  /** Networks (CIDR), in addition to the public internet, within which http is allowed too. */
  readonly allowedNetworks: readonly string[];
  /** Until a connection is established, TLS included; milliseconds. */
  readonly connectTimeoutMs?: number;
  /** For the whole request; milliseconds. */
  readonly timeoutMs?: number;
  /** The maximum number of bytes of an answer's body. */
  readonly maxBytes?: number;
  readonly resolveName?: ResolveName;
};

export type OutboundRequest = {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * Whether the address comes from the operator's settings, so that it may be in any network and use http.
   */
  readonly isOperators?: boolean;
  /**
   * Whether only status and headers matter: a body that is too long or too slow is dropped without an error.
   */
  readonly ignoresBody?: boolean;
  /** Ends the request early. */
  readonly signal?: AbortSignal;
};

export type OutboundAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

/** Returns the answer of an outgoing request in the form that jose expects of `fetch`. */
export const asResponse = ({ status, body }: OutboundAnswer): Response =>
  new Response(new Uint8Array(body), { status });

/** Sends one request. @throws OutboundError */
export type OutboundFetch = (url: URL, request?: OutboundRequest) => Promise<OutboundAnswer>;

type Limits = Required<Omit<OutboundOptions, 'allowedNetworks'>> & { readonly guard: NetworkGuard };

/** Creates the function for outgoing requests. @throws TypeError for a network that is not a CIDR */
export function createOutboundFetch({ allowedNetworks, ...options }: OutboundOptions): OutboundFetch {
  const guard = createNetworkGuard(allowedNetworks);
  const limits = {
    connectTimeoutMs: 5000,
    timeoutMs: 5000,
    maxBytes: 256 * 1024,
    resolveName: resolveBySystem,
    ...options,
    guard,
  };
  return (url, request = {}) =>
    inChildSpan(spanOf(url, request), async (span) => {
      if (span === undefined) return fetchGuarded(url, request, limits);
      // W3C Trace Context: names the span of this request instead of the span that the caller named.
      const traced = { ...request.headers, traceparent: toTraceparent(span.spanContext()) };
      const answer = await fetchGuarded(url, { ...request, headers: traced }, limits);
      noteStatus(span, answer);
      return answer;
    });
}

/**
 * Describes a request (semantic conventions for HTTP clients) without its address, which may contain a secret
 * of the receiver.
 */
const spanOf = ({ hostname, port, protocol }: URL, { method = 'GET' }: OutboundRequest) => ({
  name: method,
  attributes: {
    'http.request.method': method,
    'url.scheme': protocol.slice(0, -1),
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  },
});

function noteStatus(span: Span, { status }: OutboundAnswer): void {
  span.setAttribute('http.response.status_code', status);
  if (status >= 400) markFailed(span, String(status));
}

async function fetchGuarded(url: URL, request: OutboundRequest, limits: Limits): Promise<OutboundAnswer> {
  const late = AbortSignal.timeout(limits.timeoutMs);
  const connecting = new AbortController();
  const given = request.signal === undefined ? [] : [request.signal];
  const signal = AbortSignal.any([...given, late, connecting.signal]);
  try {
    if (!/^https?:$/.test(url.protocol)) throw new OutboundError('insecure_address');
    signal.throwIfAborted();
    const resolved = await unlessAborted(limits.resolveName(hostOf(url)), signal);
    const addresses = permittedAddresses(resolved, url, {
      guard: limits.guard,
      isOperators: request.isOperators === true,
    });
    const sending = send(url, request, { addresses, signal });
    endWhenNotConnected(sending, connecting, limits.connectTimeoutMs);
    return await answerTo(sending, { maxBytes: limits.maxBytes, ignoresBody: request.ignoresBody === true });
  } catch (cause) {
    if (cause instanceof OutboundError) throw cause;
    if (request.signal?.aborted === true) throw new OutboundError('interrupted', { cause });
    throw new OutboundError(signal.aborted ? 'timeout' : failureOf(cause), { cause });
  }
}

/** Returns the host without the brackets of an IPv6 address in a URL. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * Returns the permitted addresses: any address in an allowed network, and public addresses only over https.
 */
function permittedAddresses(
  resolved: readonly LookupAddress[],
  { protocol }: URL,
  { guard, isOperators }: { readonly guard: NetworkGuard; readonly isOperators: boolean },
): readonly LookupAddress[] {
  const allowed = resolved.filter(({ address }) => isOperators || guard.isAllowed(address));
  if (allowed.length > 0) return allowed;
  const reachable = resolved.filter(({ address }) => guard.isPublic(address));
  if (reachable.length === 0) throw new OutboundError('address_refused');
  if (protocol !== 'https:') throw new OutboundError('insecure_address');
  return reachable;
}

type Connection = { readonly addresses: readonly LookupAddress[]; readonly signal: AbortSignal };

function send(
  url: URL,
  { method = 'GET', headers = {}, body }: OutboundRequest,
  { addresses, signal }: Connection,
): ClientRequest {
  const request = url.protocol === 'https:' ? requestByHttps : http.request;
  const sending = request(url, {
    method,
    headers: {
      'Accept-Encoding': 'identity',
      'User-Agent': 'clinical-launch',
      ...headers,
      ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }),
    },
    // A new connection, so that it goes to the checked address.
    agent: false,
    lookup: resolvingTo(addresses),
    signal,
  });
  sending.end(body);
  return sending;
}

/**
 * Returns a lookup function that answers with the checked addresses. Node does not call it for a host that is
 * an address, which is already checked.
 */
function resolvingTo(addresses: readonly LookupAddress[]): LookupFunction {
  return (_hostname, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

function endWhenNotConnected(sending: ClientRequest, connecting: AbortController, timeoutMs: number): void {
  const { promise: connected, resolve: isConnected } = Promise.withResolvers<void>();
  sending.once('close', isConnected).once('socket', (socket) => {
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', isConnected);
  });
  void within(timeoutMs, connected).catch(() => connecting.abort());
}

type Reading = { readonly maxBytes: number; readonly ignoresBody: boolean };

async function answerTo(sending: ClientRequest, reading: Reading): Promise<OutboundAnswer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // The listener stays, so that an error after the answer is handled.
    sending.on('error', reject).once('response', resolve);
  });
  const { statusCode: status = 0, headers } = response;
  const body = reading.ignoresBody ? await discard(response) : await readBody(response, reading.maxBytes);
  return { status, headers, body };
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new OutboundError('bad_answer', {
        cause: new Error(`The body is larger than ${maxBytes} bytes`),
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const discardedBytes = 64 * 1024;
const discardedWithinMs = 2000;

/**
 * Reads a short answer to its end, so that its sender sees no broken connection. Closes the connection of a
 * longer answer.
 */
async function discard(response: IncomingMessage): Promise<Buffer> {
  let seen = 0;
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  response
    .on('error', () => undefined)
    .once('close', close)
    .on('data', (chunk: Buffer) => {
      seen += chunk.length;
      if (seen > discardedBytes) response.destroy();
    });
  await within(discardedWithinMs, closed).catch(() => void response.destroy());
  return Buffer.alloc(0);
}

async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}
