import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pause } from '@clinical-launch/runtime/clock';
import { quantile } from './bench.ts';

export type RequestText = string;

export type Answered = { readonly status: number; readonly body: string };

export type LoadOptions = {
  readonly url: string;
  readonly connections: number;
  readonly requests: readonly RequestText[];
  /**
   * The constant rate of requests per second. By default, each connection sends its next request after an
   * answer.
   */
  readonly perSecond?: number;
  /**
   * Whether to sleep between requests instead of busy waiting. A sleep may last a millisecond too long, but
   * costs no CPU in a long load.
   */
  readonly sleeps?: boolean;
  readonly onAnswer?: (answer: Answered, index: number) => void;
  readonly expected?: number;
};

export type LoadResult = {
  readonly seconds: number;
  /** Milliseconds from the moment a request was due until its answer was complete. */
  readonly latencies: readonly number[];
};

/**
 * Sends requests over persistent connections, with one write per request and without agents or streams, so
 * that the client costs little compared with the server.
 * @throws Error if an answer has another status or a connection closes
 */
export async function sendAll({
  url,
  connections,
  requests,
  perSecond,
  sleeps = false,
  onAnswer,
  expected = 200,
}: LoadOptions): Promise<LoadResult> {
  const { hostname, port } = new URL(url);
  const lines = await Promise.all(
    Array.from({ length: connections }, () => openLine(hostname, Number(port))),
  );
  const latencies = new Float64Array(requests.length);
  const startedAt = performance.now();
  const dueOf = (index: number) =>
    perSecond === undefined ? undefined : startedAt + (index * 1000) / perSecond;
  let next = 0;
  const work = async (line: Line) => {
    for (let index = next++; index < requests.length; index = next++) {
      const due = dueOf(index) ?? performance.now();
      for (let wait = due - performance.now(); wait > 0; wait = due - performance.now())
        await (sleeps ? pause(Math.ceil(wait)) : nextTurn());
      const answer = await line.send(requests[index] ?? '');
      latencies[index] = performance.now() - due;
      if (answer.status !== expected) throw new Error(`${url} answered ${answer.status}: ${answer.body}`);
      onAnswer?.(answer, index);
    }
  };
  try {
    await Promise.all(lines.map(work));
  } finally {
    for (const line of lines) line.close();
  }
  return { seconds: (performance.now() - startedAt) / 1000, latencies: [...latencies] };
}

/** Returns the median latency of a load, in milliseconds. */
export const p50 = ({ latencies }: LoadResult): number => quantile(latencies, 0.5);
/** Returns the 99th percentile of the latencies of a load, in milliseconds. */
export const p99 = ({ latencies }: LoadResult): number => quantile(latencies, 0.99);

type Line = { send(request: RequestText): Promise<Answered>; close(): void };

function openLine(host: string, port: number): Promise<Line> {
  const { promise, resolve, reject } = Promise.withResolvers<Line>();
  const socket = connect({ host, port, noDelay: true }, () => resolve(lineOf(socket)));
  socket.once('error', reject);
  return promise;
}

function lineOf(socket: Socket): Line {
  let waiting: PromiseWithResolvers<Answered> | undefined;
  let received = '';
  const end = (error?: Error) => waiting?.reject(error ?? new Error('The connection was closed'));
  socket
    .setEncoding('latin1')
    .on('data', (chunk: string) => {
      received += chunk;
      const answer = answerIn(received);
      if (answer === undefined) return;
      received = '';
      waiting?.resolve(answer);
    })
    .on('error', end)
    .on('close', () => end());
  return {
    send(request) {
      waiting = Promise.withResolvers<Answered>();
      socket.write(request);
      return waiting.promise;
    },
    close: () => void socket.destroy(),
  };
}

/** Returns the answer once it is complete. Every contender sends a Content-Length. */
function answerIn(text: string): Answered | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head + 2)) ?? [];
  const body = text.slice(head + 4);
  if (body.length < Number(length ?? 0)) return undefined;
  return { status: Number(text.slice(9, 12)), body };
}

/** Returns the text of a POST. */
export function post(
  path: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): RequestText {
  const lines = Object.entries({ ...headers, 'Content-Length': String(Buffer.byteLength(body)) });
  return `POST ${path} HTTP/1.1\r\nHost: bench\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

/** Returns the text of a GET. */
export const get = (path: string): RequestText => `GET ${path} HTTP/1.1\r\nHost: bench\r\n\r\n`;
