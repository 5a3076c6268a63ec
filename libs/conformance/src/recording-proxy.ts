import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { http } from '@clinical-launch/http/node-http';
import type { Clock } from '@clinical-launch/runtime/clock';
import { type Attributed, createAttribution } from './attribution.ts';
import {
  type Exchange,
  endpointOf,
  type FaultName,
  membersOf,
  type ProxiedAnswer,
  type ProxiedRequest,
  runHeader,
} from './exchange.ts';
import { faultyAnswer } from './faults.ts';

type Awaitable<Value> = Value | Promise<Value>;

/** The functions that watch the exchanges of a proxy and change the answers. */
export type Watch = {
  /** Returns the fault for a request, or undefined to forward the request. */
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
  /** The origin of the platform. */
  readonly target: URL;
  /** The address that clients use. */
  readonly publicUrl: URL;
  /**
   * Serves one client, which reaches the proxy at `path` below `publicUrl`. Launch URLs in answers then begin
   * with this address. If absent, the proxy serves all clients, and finds the client of each request.
   */
  readonly only?: {
    readonly clientId: string;
    readonly path: string;
    /**
     * Returns true if the headers prove that the client sent the request. A request without this proof is
     * recorded without a client, unless it contains a secret of a launch of the client.
     */
    readonly isOwn: (headers: IncomingHttpHeaders) => Promise<boolean>;
  };
  readonly clock: Clock;
  readonly watch: Watch;
  /** The delay of the fault `slow` in milliseconds. By default, ten seconds. */
  readonly slowMs?: number;
};

/** The maximum number of bytes in a request. The platform itself accepts less. */
const maxRequestBytes = 2 * 1024 * 1024;

/**
 * Creates a reverse proxy for the platform that records each request with its answer, and answers some
 * requests with a fault instead. Buffers both bodies. Answers 400 for an address that is not a path, 413 for
 * a body larger than 2 MiB, and 502 if the platform does not answer.
 */
export function createRecordingProxy({
  target,
  publicUrl,
  clock,
  watch,
  only,
  slowMs = 10_000,
}: ProxyOptions): RequestListener {
  const attribution = createAttribution();

  const answerOf = async (incoming: IncomingMessage, sent: Sent, fault?: FaultName) => {
    if (fault === 'slow') await pause(slowMs, undefined, { ref: false });
    // Does not forward the request, as if the connection were lost before the request reached the platform.
    if (fault === 'cut') return unreachable;
    return fault === undefined || fault === 'slow'
      ? await forward(incoming, { target, body: sent.body }).catch(() => unreachable)
      : faultyAnswer(fault, endpointOf(sent.request));
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    // Adds the origin as text. With the origin as a base URL, a path that begins with // would be read as a
    // host name.
    const url = URL.parse(`${publicUrl.origin}${incoming.url}`);
    if (url === null) return sendAnswer(incoming, response, refusalOf(400));
    const body = await readBody(incoming, response);
    if (body === undefined) return sendAnswer(incoming, response, refusalOf(413));
    const { method = 'GET', headers } = incoming;
    const request = { method, url, headers, body: body.toString(), at: clock.now() };
    const attributed = await attributedTo(only, { headers, known: attribution.of(request) });
    const fault = watch.faultFor(request, attributed);
    const answered = await answerOf(incoming, { request, body }, fault);
    const answer = only === undefined ? answered : withLaunchUrlAt(publicUrl.origin, answered);
    const exchange: Exchange = {
      direction: 'received',
      request,
      answer,
      answeredAt: clock.now(),
      ...attribution.learn({ request, answer, ...attributed }),
      ...(fault === undefined ? {} : { fault }),
    };
    const altered = await watch.alter(exchange);
    watch.record({ ...exchange, ...altered });
    if (fault === 'cut') return void response.destroy();
    const sent = altered?.answer ?? answer;
    sendAnswer(incoming, response, only ? withLaunchUrlAt(`${publicUrl.origin}${only.path}`, sent) : sent);
  };

  return (incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  };
}

/**
 * Returns the client and the launch of a request. A proxy of one client attributes a request to it if the
 * request contains a secret of a launch of the client, or proves otherwise that the client sent it.
 */
async function attributedTo(
  only: ProxyOptions['only'],
  { headers, known }: { readonly headers: IncomingHttpHeaders; readonly known: Attributed },
): Promise<Attributed> {
  if (only === undefined) return known;
  const { clientId } = only;
  const isOwn = known.clientId === clientId || (await only.isOwn(headers));
  return withoutUndefined({ launchId: known.launchId, clientId: isOwn ? clientId : undefined });
}

/** Replaces the origin of a launch URL in an answer with `base`. Returns other answers unchanged. */
function withLaunchUrlAt(base: string, answer: ProxiedAnswer): ProxiedAnswer {
  const members = membersOf(answer.body);
  const url = typeof members['url'] === 'string' ? URL.parse(members['url']) : null;
  if (url?.searchParams.has('launchToken') !== true) return answer;
  const moved = { ...members, url: `${base}${url.pathname}${url.search}` };
  return { ...answer, body: Buffer.from(JSON.stringify(moved)) };
}

type Sent = { readonly request: ProxiedRequest; readonly body: Buffer };

const unreachable: ProxiedAnswer = { status: 502, headers: {}, body: Buffer.alloc(0) };

/**
 * Returns a refusal that closes the connection. The connection cannot be used for another request, because
 * the rest of the body is not read.
 */
const refusalOf = (status: number): ProxiedAnswer => ({
  ...unreachable,
  status,
  headers: { connection: 'close' },
});

/** Reads a body. Returns undefined if it is too long. */
async function readBody(incoming: IncomingMessage, response: ServerResponse): Promise<Buffer | undefined> {
  if (incoming.headers.expect !== undefined) response.writeContinue();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > maxRequestBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

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
