import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as requestByHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { withTimeout } from '@clinical-launch/runtime/clock';
import { inChildSpan, markFailed, type Span, toTraceparent } from '@clinical-launch/runtime/tracing';
import { createNetworkGuard, type NetworkGuard } from './network-guard.ts';
import { http } from './node-http.ts';
import { failureOf, OutboundError } from './outbound-error.ts';

/*
 * Requests to registered addresses: keys and discovery documents of trusted issuers, launch URLs, callbacks.
 * Resolves the host name once, checks the IP addresses, and connects to a checked address. DNS rebinding,
 * which resolves a name to a different address later, therefore has no effect. Follows no redirect, uses no
 * proxy and reuses no connection.
 */

/** Resolves a host name to IP addresses. Returns an IP address unchanged. */
export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Resolves host names with the hosts file and the name servers of the operating system. */
export const resolveBySystem: ResolveName = (hostname) => lookup(hostname, { all: true });

export type OutboundOptions = {
  /**
   * Networks (CIDR) that requests may reach in addition to the public internet. Requests to these networks
   * may use http.
   */
  readonly allowedNetworks: readonly string[];
  /** The maximum time to connect, including TLS, in milliseconds. */
  readonly connectTimeoutMs?: number;
  /** The maximum time of the whole request, in milliseconds. */
  readonly timeoutMs?: number;
  /** The maximum number of bytes in the body of the answer. */
  readonly maxBytes?: number;
  readonly resolveName?: ResolveName;
};

export type OutboundRequest = {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** True if the address is from the operator's settings. It may then be in any network and use http. */
  readonly isOperators?: boolean;
  /** If true, the body is discarded, and a body that is too long or too slow is not an error. */
  readonly ignoresBody?: boolean;
  readonly signal?: AbortSignal;
};

export type OutboundAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

/** Converts the answer of an outgoing request to a `Response`, which jose requires. */
export const asResponse = ({ status, body }: OutboundAnswer): Response =>
  new Response(new Uint8Array(body), { status });

/** Sends one request. @throws OutboundError */
export type OutboundFetch = (url: URL, request?: OutboundRequest) => Promise<OutboundAnswer>;

type Limits = Required<Omit<OutboundOptions, 'allowedNetworks'>> & { readonly guard: NetworkGuard };

/** Creates the function for outgoing requests. @throws TypeError if a network is not in CIDR notation */
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
      // W3C Trace Context: sends the span of this request instead of a span in `request.headers`.
      const traced = { ...request.headers, traceparent: toTraceparent(span.spanContext()) };
      const answer = await fetchGuarded(url, { ...request, headers: traced }, limits);
      noteStatus(span, answer);
      return answer;
    });
}

/**
 * Returns the span of a request (OpenTelemetry semantic conventions for HTTP clients). Omits path and query,
 * which may contain a secret of the receiver.
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

/** Returns the host name of a URL, without brackets if it is an IPv6 address. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * Returns the addresses to which the request may go. An address is permitted, even with http, if the operator
 * chose it or allows its network. If there is no such address, returns the public addresses, which require
 * https.
 * @throws OutboundError if no address is permitted
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

function send(
  url: URL,
  { method = 'GET', headers = {}, body }: OutboundRequest,
  { addresses, signal }: { readonly addresses: readonly LookupAddress[]; readonly signal: AbortSignal },
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
    // Opens a new connection, because a reused connection might lead to an unchecked address.
    agent: false,
    lookup: resolvingTo(addresses),
    signal,
  });
  sending.end(body);
  return sending;
}

/**
 * Returns a lookup function that returns the checked addresses. Node does not call it if the host is an IP
 * address, but that address is also checked.
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
  void withTimeout(timeoutMs, connected).catch(() => connecting.abort());
}

type Reading = { readonly maxBytes: number; readonly ignoresBody: boolean };

async function answerTo(sending: ClientRequest, reading: Reading): Promise<OutboundAnswer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // Node closes the connection without an error if the answer is 101 Switching Protocols.
    sending.once('close', () => reject(new OutboundError('bad_answer')));
    // The listener is not removed, because an unhandled error after the answer would end the process.
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
 * Reads a short body to its end, so that the sender sees no broken connection. Closes the connection if the
 * body is longer or arrives slowly.
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
  await withTimeout(discardedWithinMs, closed).catch(() => void response.destroy());
  return Buffer.alloc(0);
}

async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}
