import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { waitLimitMs } from '@clinical-launch/testing/until';

export type HttpRequest = {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of a POST: a form, or JSON text. Without it, the request is a GET. */
  readonly body?: URLSearchParams | string;
  readonly timeoutMs?: number;
};

export type HttpAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

const agent = new Agent({ keepAlive: true });

/**
 * Sends one request without following redirects or retrying.
 * @throws Error if no complete answer arrives in time
 */
export async function sendRequest(sent: HttpRequest): Promise<HttpAnswer> {
  const { url, headers, body, timeoutMs = waitLimitMs } = sent;
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  const outgoing = request(url, {
    agent,
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...contentOf(body), ...headers },
    signal: AbortSignal.timeout(timeoutMs),
  });
  outgoing.once('error', reject).once('response', (incoming) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.once('error', reject).once('end', () => {
      const { statusCode: status = 0, headers: answered } = incoming;
      resolve({ status, headers: answered, body: Buffer.concat(chunks).toString() });
    });
  });
  outgoing.end(body?.toString());
  return promise;
}

function contentOf(body: HttpRequest['body']): Record<string, string> {
  if (body === undefined) return {};
  const isForm = body instanceof URLSearchParams;
  return {
    'Content-Type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
    'Content-Length': String(Buffer.byteLength(body.toString())),
  };
}
