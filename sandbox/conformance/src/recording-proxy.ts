import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { readBytes } from '@clinical-launch/http/body';
import { ServiceError } from '@clinical-launch/http/errors';
import { http } from '@clinical-launch/http/node-http';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Attributed, Attribution } from './attribution.ts';
import {
  type Endpoint,
  type Exchange,
  endpointOf,
  type FaultName,
  membersOf,
  type ProxiedAnswer,
  type ProxiedRequest,
  runHeader,
  tokenIn,
} from './exchange.ts';
import { faultyAnswer } from './faults.ts';

type Awaitable<Value> = Value | Promise<Value>;

/**
 * Counts a request before its body is read. `attributed` contains what the address and the headers prove.
 * Returns the name of the caller, for which bodies are counted.
 * @throws ServiceError to refuse the request
 */
type Admit = (attributed: Attributed) => string;

/** Answers a request. Without `admit`, admits every request. */
export type RecordingProxy = (incoming: IncomingMessage, response: ServerResponse, admit?: Admit) => void;

/** The functions that watch the exchanges of a proxy and change the answers. */
export type Watch = {
  readonly faultFor: (request: ProxiedRequest, attributed: Attributed) => FaultName | undefined;
  /**
   * Returns a changed answer for the client, or undefined to keep the answer. `probe` names the deliberate
   * change.
   */
  readonly alter: (
    exchange: Exchange,
  ) => Awaitable<{ readonly answer: ProxiedAnswer; readonly probe?: string } | undefined>;
  /** Receives each exchange before its answer is sent. */
  readonly record: (exchange: Exchange) => void;
};

type ProxyOptions = {
  readonly target: URL;
  readonly publicUrl: URL;
  /** The address at which clients reach the proxy, by default `publicUrl`. Launch URLs in answers begin with it. */
  readonly baseAddress?: string;
  readonly attribution: Attribution;
  readonly clock: Clock;
  readonly watch: Watch;
  /** The delay of the fault `slow` in milliseconds. By default, ten seconds. */
  readonly slowMs?: number | undefined;
};

/** The maximum number of bytes in a request, which is the largest maximum of the platform. */
const maxRequestBytes = 256 * 1024;

/**
 * Creates a reverse proxy for the platform that records each request with its answer, and answers some
 * requests with a fault instead. Buffers both bodies. Answers 400 for an address that is not a path, 413 for
 * a body larger than 256 KiB, and 502 if the platform does not answer. Decides for each request first whose
 * it is, then whether it is admitted, and only then reads its body.
 */
export function createRecordingProxy({
  target,
  publicUrl,
  clock,
  watch,
  baseAddress = publicUrl.origin,
  attribution,
  slowMs = 10_000,
}: ProxyOptions): RecordingProxy {
  /**
   * Forwards a request, unless a fault applies to it. Only the answer of the platform proves whose credentials
   * a token request contains, so a fault of that client replaces the answer.
   */
  const exchangeOf = async (
    request: ProxiedRequest,
    ask: () => Promise<ProxiedAnswer>,
  ): Promise<Omit<Exchange, 'answeredAt'>> => {
    const answerWith = createAnswering(endpointOf(request), slowMs);
    const proven = await attribution.of(request);
    const early = watch.faultFor(request, proven);
    const answer = await answerWith(early, ask);
    // The verifier may not know yet that a token was revoked.
    const isRefused = early === undefined && answer.status === 401 && tokenIn(request) !== undefined;
    const attributed = isRefused ? {} : attribution.learn({ request, answer, ...proven });
    const isProvenNow = proven.clientId === undefined && attributed.clientId !== undefined;
    const late = isProvenNow ? watch.faultFor(request, attributed) : undefined;
    const exchange = { direction: 'received', request, ...attributed } as const;
    const fault = early ?? late;
    if (fault === undefined) return { ...exchange, answer };
    return { ...exchange, fault, answer: await answerWith(late, () => answer) };
  };

  const handle = async (...[incoming, response, admit]: Parameters<RecordingProxy>) => {
    // Adds the origin as text. With the origin as a base URL, a path that begins with // would be read as a
    // host name.
    const url = URL.parse(`${publicUrl.origin}${incoming.url}`);
    if (url === null) return sendAnswer(incoming, response, refusalOf(400));
    const { method = 'GET', headers } = incoming;
    const unread = { method, url, headers, body: '', at: clock.now() };
    const identity = admit?.(await attribution.of(unread));
    const call = { identity, address: undefined };
    const body = await readBytes({ request: incoming, response, call }, maxRequestBytes);
    const known = await exchangeOf({ ...unread, body: body.toString() }, () =>
      forward(incoming, { target, body }).catch(() => unreachable),
    );
    const answer = withLaunchUrlAt(publicUrl.origin, known.answer);
    const exchange = { ...known, answer, answeredAt: clock.now() };
    const altered = await watch.alter(exchange);
    watch.record({ ...exchange, ...altered });
    if (exchange.fault === 'cut') return void response.destroy();
    const sent = altered?.answer ?? answer;
    sendAnswer(incoming, response, withLaunchUrlAt(baseAddress, sent));
  };

  return (incoming, response, admit) => {
    handle(incoming, response, admit).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) return void response.destroy();
      sendAnswer(incoming, response, refusalOf(error.status, error.headers));
    });
  };
}

const createAnswering =
  (endpoint: Endpoint, slowMs: number) =>
  async (fault: FaultName | undefined, ask: () => Awaitable<ProxiedAnswer>): Promise<ProxiedAnswer> => {
    if (fault === 'slow') await pause(slowMs, undefined, { ref: false });
    // Does not ask, as if the connection were lost before the request reached the platform.
    if (fault === 'cut') return unreachable;
    return fault === undefined || fault === 'slow' ? ask() : faultyAnswer(fault, endpoint);
  };

function withLaunchUrlAt(base: string, answer: ProxiedAnswer): ProxiedAnswer {
  const members = membersOf(answer.body);
  const url = typeof members['url'] === 'string' ? URL.parse(members['url']) : null;
  if (url?.searchParams.has('launchToken') !== true) return answer;
  const moved = { ...members, url: `${base}${url.pathname}${url.search}` };
  return { ...answer, body: Buffer.from(JSON.stringify(moved)) };
}

const unreachable: ProxiedAnswer = { status: 502, headers: {}, body: Buffer.alloc(0) };

// Closes the connection, which cannot be used again, because the rest of the body is not read.
const refusalOf = (status: number, headers: ServiceError['headers'] = {}): ProxiedAnswer => ({
  ...unreachable,
  status,
  headers: { ...headers, Connection: 'close' },
});

/**
 * The headers that are not forwarded: headers of one connection (RFC 9110 section 7.6.1), headers that the
 * proxy sets itself, and the header that names a run.
 */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'content-length',
  'x-forwarded-for',
  // Without this header, the platform does not compress its answers, so the proxy can read them.
  'accept-encoding',
  runHeader,
]);

/** The maximum milliseconds of a request to the platform. */
const platformTimeoutMs = 30_000;

const forwardedOf = (headers: IncomingHttpHeaders) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)));

/**
 * Sends a request to the platform, and resolves with the whole answer. Sends a body only after the platform
 * has asked for it, because a refusal that arrives while a large body is sent could be lost with the
 * connection.
 */
function forward(
  { method, url, headers, socket }: IncomingMessage,
  { target, body }: { readonly target: URL; readonly body: Buffer },
): Promise<ProxiedAnswer> {
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  const { promise, resolve, reject } = Promise.withResolvers<ProxiedAnswer>();
  const request = (target.protocol === 'https:' ? requestByHttps : http.request)(target, {
    method,
    path: url,
    headers: {
      ...forwardedOf(headers),
      ...(hasBody ? { 'Content-Length': body.length } : {}),
      ...(body.length > 0 ? { Expect: '100-continue' } : {}),
      'X-Forwarded-For': socket.remoteAddress ?? '',
    },
    agent: false,
    signal: AbortSignal.timeout(platformTimeoutMs),
  });
  request.once('continue', () => request.end(body));
  request.once('error', reject).once('response', (answer) => {
    const chunks: Buffer[] = [];
    answer
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('error', reject)
      .once('end', () =>
        resolve({
          status: answer.statusCode ?? 502,
          headers: Object.fromEntries(
            Object.entries(answer.headers).filter(
              ([name]) => name === 'content-length' || !ofConnection.has(name),
            ),
          ),
          body: Buffer.concat(chunks),
        }),
      );
  });
  if (body.length > 0) request.flushHeaders();
  else request.end();
  return promise.finally(() => request.destroy());
}

function sendAnswer(
  { method }: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: ProxiedAnswer,
): void {
  const { 'content-length': stated, ...others } = headers;
  const isWithoutBody = method === 'HEAD' || status === 204 || status === 304;
  const length = isWithoutBody ? stated : body.length;
  response.writeHead(status, { ...others, ...(length === undefined ? {} : { 'Content-Length': length }) });
  response.end(body);
}
