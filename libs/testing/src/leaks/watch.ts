import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { SearchedForm } from './hidden-data.ts';
import { leakSearch, type Place } from './search.ts';
import { secretsOfForm, secretsOfHeaders, withoutOwnSecrets } from './secrets.ts';

/** A request of `fetch`. */
type FetchRequest = {
  readonly origin: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly contentType?: string;
};

const formType = 'application/x-www-form-urlencoded';
const largestForm = 16_384;

let isWatching = false;

/**
 * Shows the search of the test file what this process logs, requests, is requested and sends to Redis and
 * RabbitMQ, what its collectors and scrapes receive, and what its child processes log. Once for a process.
 */
export function watchForLeaks(): void {
  if (isWatching) return;
  isWatching = true;
  on('tracing:pino_asJson:end', ({ result = '' }: { result?: string }) =>
    leakSearch().observe('a log', result),
  );
  on('child_process', ({ process }: { process: ChildProcess }) => {
    // Its streams are opened in this turn.
    queueMicrotask(() => watchOutput(process));
  });
  on('net.client.socket', ({ socket }: { socket: Socket }) => {
    // Node resets its `write` when it connects, in this turn.
    queueMicrotask(() => watchWrites(socket));
  });
  on('http.server.request.start', ({ request }: { request: IncomingMessage }) => {
    const { url = '', headers } = request;
    noteRequest(url, headers.authorization, headers.cookie);
    if (url.endsWith('/v1/traces')) watchChunks(request, 'a span', { form: 'bytes' });
    if (url.endsWith('/v1/metrics')) watchChunks(request, 'a metric', { form: 'bytes' });
  });
  on('http.client.request.start', ({ request }: { request: ClientRequest }) =>
    noteRequest(request.path, request.getHeader('authorization'), request.getHeader('cookie')),
  );
  on('undici:request:create', ({ request }: { request: FetchRequest }) => {
    const { path, headers } = request;
    const valueOf = (name: string) =>
      headers[headers.findIndex((text, index) => index % 2 === 0 && String(text).toLowerCase() === name) + 1];
    noteRequest(path, valueOf('authorization'), valueOf('cookie'));
  });
  on('undici:request:bodyChunkSent', ({ request, chunk }: { request: FetchRequest; chunk: Uint8Array }) => {
    // A larger one tests a limit, and the time that it costs.
    if (!request.contentType?.startsWith(formType) || chunk.length > largestForm) return;
    leakSearch().use(secretsOfForm(new URLSearchParams(textOf(chunk))));
  });
  on('undici:request:bodyChunkReceived', ({ request, chunk }: { request: FetchRequest; chunk: Buffer }) => {
    if (request.path === '/metrics') leakSearch().observe('a metric', textOf(chunk));
  });
}

function on<Message>(channel: string, notice: (message: Message) => void): void {
  subscribe(channel, (message) => notice(message as Message));
}

const textOf = (chunk: unknown): string =>
  chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : typeof chunk === 'string' ? chunk : '';

function noteRequest(url: string, authorization: unknown, cookie: unknown): void {
  const search = leakSearch();
  if (authorization !== undefined || cookie !== undefined)
    search.use(secretsOfHeaders(textOf(authorization), textOf(cookie)));
  const [path = '', ...queries] = url.split('?');
  const query = new URLSearchParams(queries.join('?'));
  search.use(secretsOfForm(query));
  search.observe('a URL', withoutOwnSecrets(path, query));
}

type WatchOptions = { readonly form?: SearchedForm; readonly textToSearch?: (chunk: unknown) => string };

/** Shows what a stream receives. A listener would make it flow before its reader is there. */
function watchChunks(stream: Readable, place: Place, { form, textToSearch = textOf }: WatchOptions): void {
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk !== null) leakSearch().observe(place, textToSearch(chunk), form);
    return Readable.prototype.push.call(stream, chunk, encoding);
  };
}

function watchOutput({ stdout, stderr }: ChildProcess): void {
  for (const stream of [stdout, stderr])
    if (stream !== null) watchChunks(stream, 'a log', { textToSearch: logLines() });
}

/** Returns what finds the log, pino's lines, in the output of a process: commands show results to users. */
function logLines(): (chunk: unknown) => string {
  let unfinished = '';
  return (chunk) => {
    const lines = `${unfinished}${textOf(chunk)}`.split('\n');
    unfinished = lines.pop() ?? '';
    return lines.filter((line) => line.startsWith('{"level":')).join('\n');
  };
}

/** Shows what is sent to Redis and RabbitMQ, whose protocols begin in their own ways. */
function watchWrites(socket: Socket): void {
  let place: Place | undefined;
  const write = Socket.prototype.write.bind(socket);
  socket.write = (chunk: string | Uint8Array, ...others: never[]) => {
    const text = textOf(chunk);
    if (place === undefined && /^\*\d+\r\n\$/.test(text)) place = 'a command to Redis';
    if (place === undefined && text.startsWith('AMQP\0')) place = 'a message to RabbitMQ';
    if (place === undefined) Reflect.deleteProperty(socket, 'write');
    else leakSearch().observe(place, text);
    return write(chunk, ...others);
  };
}
