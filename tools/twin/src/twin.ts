import type { IncomingMessage, RequestListener } from 'node:http';
import { createApp } from '@clinical-launch/http/app';
import { http } from '@clinical-launch/http/node-http';
import { listen } from '@clinical-launch/http/server';
import { startPlatform } from '@clinical-launch/platform/platform';
import { ConfigurationError, type Environment } from '@clinical-launch/runtime/environment';
import type { Logger } from '@clinical-launch/runtime/logger';
import { isProduction } from '@clinical-launch/runtime/mode';
import { MovableClock, moveClock } from './movable-clock.ts';

export type TwinOptions = {
  /** The port, or 0 for any free port. */
  readonly port: number;
  readonly host: string;
  /** The origin at which browsers and backends reach the twin. By default, `localhost` and the port. */
  readonly publicUrl?: string;
  /** By default, the registry of the demo. */
  readonly registryFile?: string;
  readonly logger: Logger;
  /** Only `NODE_ENV` is read. Other variables, such as `DATABASE_URL`, belong to the vendor's product. */
  readonly environment: Environment;
};

export type Twin = {
  /** The address that browsers and backends use. */
  readonly url: string;
  /** Finishes open requests, then stops the platform. Its data is lost. */
  stop(): Promise<void>;
};

/**
 * Starts the whole platform with embedded parts on a private port, and in front of it a listener with the
 * clock of the twin.
 * @throws ConfigurationError in production mode, and if an option is invalid
 */
export async function startTwin(options: TwinOptions): Promise<Twin> {
  const { logger, environment, publicUrl, registryFile } = options;
  if (isProduction(environment))
    throw new ConfigurationError(['NODE_ENV must not be production. The secrets of the twin are public']);
  let answer: RequestListener = startingUp;
  const server = await listen((request, response) => answer(request, response), options);
  try {
    const clock = new MovableClock();
    const platform = await startPlatform({
      environment: {
        PORT: '0',
        HOST: '127.0.0.1',
        PUBLIC_URL: publicUrl ?? `http://localhost:${server.port}`,
        TRUSTED_PROXIES: '1',
        REGISTRY_FILE: registryFile,
      },
      clock,
      logger,
    });
    const control = createApp({
      mounts: [{ path: '/', service: { endpoints: [moveClock(clock)] } }],
      logger,
      clock,
      isProduction: false,
    });
    const forward = front(new URL(platform.localUrl));
    answer = (request, response) => (isForClock(request) ? control : forward)(request, response);
    return {
      url: platform.publicUrl,
      async stop() {
        await server.stop();
        await platform.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

const startingUp: RequestListener = (_request, response) => {
  response.writeHead(503, { 'Retry-After': '1' }).end();
};

const isForClock = ({ url = '' }: IncomingMessage) => /^\/clock(?:\?|$)/.test(url);

/**
 * Returns a listener that forwards each request unchanged, except for hop-by-hop headers (RFC 9110 section
 * 7.6.1) and `X-Forwarded-For`.
 */
function front({ hostname, port }: URL): RequestListener {
  return (request, response) => {
    const { method, url, rawHeaders, headers, socket } = request;
    const outgoing = http.request({
      hostname,
      port,
      method,
      path: url,
      headers: [...endToEnd(rawHeaders), 'X-Forwarded-For', socket.remoteAddress ?? ''],
      agent: false,
    });
    if (headers.expect !== undefined) response.writeContinue();
    outgoing.once('response', (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, endToEnd(incoming.rawHeaders));
      incoming.pipe(response);
    });
    outgoing.once('error', () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    response.once('close', () => outgoing.destroy());
    request.pipe(outgoing);
  };
}

const isHopByHop =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|x-forwarded-for)$/i;

const endToEnd = (rawHeaders: readonly string[]): string[] =>
  rawHeaders.filter((_text, at) => !isHopByHop.test(rawHeaders[at - (at % 2)] ?? ''));
