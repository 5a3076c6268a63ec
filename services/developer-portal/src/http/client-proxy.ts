import type { IncomingMessage, RequestListener } from 'node:http';
import { claimsOf, tokenIn } from '@clinical-launch/conformance/exchange';
import { createRecordingProxy } from '@clinical-launch/conformance/recording-proxy';
import type { ConformanceRuns } from '@clinical-launch/conformance/runs';
import { sendStatus } from '@clinical-launch/http/answer';
import { ServiceError } from '@clinical-launch/http/errors';
import { createRateLimiter } from '@clinical-launch/limits/rate-limit';
import type { RecordedRequests } from '../store/recorded-requests.ts';
import type { Portal } from './portal.ts';
import { recordedRequestOf } from './record-request.ts';

/** The path below which each sandbox client reaches the platform at its own address. */
export const proxyPath = '/developers/api';

/** Returns the base address that a sandbox client configures instead of the platform's address. */
export const baseAddressOf = (publicUrl: string, clientId: string): string =>
  `${publicUrl}${proxyPath}/${encodeURIComponent(clientId)}`;

const requestsPerSecond = 50;

type ClientProxiesOptions = {
  readonly runs: ConformanceRuns;
  readonly requests: RecordedRequests;
};

/**
 * Creates a proxy at the address of each sandbox client. The proxy forwards requests to the platform, records
 * them, and answers with the faults that the developer requested. Answers 404 for an unknown client, 403 to the
 * token of another client, and 429 after 50 requests of a client in a second.
 */
export function clientProxies(portal: Portal, { runs, requests }: ClientProxiesOptions): RequestListener {
  const { config, clock, clients, cookieName } = portal;
  const limiter = createRateLimiter(clock);
  const proxies = new Map<string, RequestListener>();

  const proxyOf = (clientId: string) => {
    const known = proxies.get(clientId);
    if (known !== undefined) return known;
    const made = createRecordingProxy({
      target: new URL(config.platformUrl),
      publicUrl: new URL(config.publicUrl),
      only: {
        clientId,
        path: `${proxyPath}/${encodeURIComponent(clientId)}`,
        isOwn: ({ authorization }) =>
          portal.tokens.verify(authorization).then(
            (caller) => caller.clientId === clientId,
            () => false,
          ),
      },
      clock,
      watch: {
        ...runs.watch,
        record(exchange) {
          runs.watch.record(exchange);
          requests.add(clientId, recordedRequestOf(exchange));
        },
      },
    });
    proxies.set(clientId, made);
    return made;
  };

  return (request, response) => {
    const [, encoded = '', path = ''] = /^\/([^/?]+)(\/.*)$/.exec(request.url ?? '') ?? [];
    const clientId = [...clients().keys()].find((id) => encodeURIComponent(id) === encoded);
    if (clientId === undefined) return sendStatus(response, 404);
    if (isOfOtherClient(request, clientId)) {
      response.setHeader('Launch-Refusal', 'unauthorized_client');
      return sendStatus(response, 403);
    }
    try {
      limiter.count(clientId, requestsPerSecond);
    } catch (error) {
      if (error instanceof ServiceError)
        response.setHeader('Retry-After', error.headers['Retry-After'] ?? '1');
      return sendStatus(response, 429);
    }
    request.url = path;
    removeCookie(request, cookieName);
    proxyOf(clientId)(request, response);
  };
}

/**
 * Returns true if a request contains the token of another client. Such a request must not be recorded,
 * because the developers of `clientId` could see it.
 */
function isOfOtherClient(request: IncomingMessage, clientId: string): boolean {
  const claims = claimsOf(tokenIn(request));
  const stated = ['client_id', 'azp', 'appid'].map((name) => claims[name]).find((id) => id !== undefined);
  return stated !== undefined && stated !== clientId;
}

/** Removes the cookie of the portal's session, which the platform must not receive. */
function removeCookie(request: IncomingMessage, name: string): void {
  const others = (request.headers.cookie ?? '').split(/; */).filter((pair) => !pair.startsWith(`${name}=`));
  if (others.join('') === '') delete request.headers.cookie;
  else request.headers.cookie = others.join('; ');
}
