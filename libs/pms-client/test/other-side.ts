import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '@clinical-launch/http/server';

type Answer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};
type Received = {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly path: string;
};

/**
 * Starts a minimal identity provider, which issues `token-1`, `token-2` and so on, and a minimal launch API.
 * Tests set the answers of both.
 */
export async function startOtherSide() {
  const tokenRequests: Received[] = [];
  const launchRequests: Received[] = [];
  let answerToken = (count: number): Answer => ({
    body: { access_token: `token-${count}`, token_type: 'Bearer', expires_in: 3600 },
  });
  let answerLaunch = (_request: Received): Answer => ({
    body: { url: 'https://oltr.example/secureLaunch?launchToken=T' },
  });

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const received = { headers: request.headers, body: await text(request), path: request.url ?? '' };
    if (received.path === '/token') {
      tokenRequests.push(received);
      send(response, answerToken(tokenRequests.length));
    } else {
      launchRequests.push(received);
      send(response, answerLaunch(received));
    }
  };
  const server = await listen((request, response) => void answer(request, response), {
    port: 0,
    host: '127.0.0.1',
  });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    tokenRequests,
    launchRequests,
    options: {
      baseUrl: url,
      tokenUrl: `${url}/token`,
      clientId: 'pms',
      clientSecret: 'a secret & more',
      scope: 'api://clinical-launch/.default',
    },
    answerTokenWith(next: typeof answerToken) {
      answerToken = next;
    },
    answerLaunchWith(next: typeof answerLaunch) {
      answerLaunch = next;
    },
    stop: () => server.stop(),
  };
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: Answer): void {
  response.writeHead(status, { 'X-Correlation-Id': correlationId, ...headers });
  response.end(body === undefined ? '' : JSON.stringify(body));
}

/** The correlation id in every answer of both servers. */
export const correlationId = 'd3b07384-d9a0-4c9b-8f2e-000000000001';

/** Returns the S256 challenge of a verifier (RFC 7636 section 4.2). */
export const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');
