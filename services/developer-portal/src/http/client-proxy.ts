import type { IncomingMessage } from 'node:http';
import { claimsOf, tokenIn } from '@clinical-launch/conformance/exchange';
import { createRecordingProxy, type RecordingProxy } from '@clinical-launch/conformance/recording-proxy';
import type { ConformanceRuns } from '@clinical-launch/conformance/runs';
import { sendStatus } from '@clinical-launch/http/answer';
import { networkOf, plainAddress } from '@clinical-launch/http/call';
import { createRateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Service } from '@clinical-launch/process/service';
import type { RecordedRequests } from '../store/recorded-requests.ts';
import type { Portal } from './portal.ts';
import { recordedRequestOf } from './record-request.ts';

/** The path below which each sandbox client reaches the platform at its own address. */
export const proxyPath = '/developers/api';

/** Returns the base address that a sandbox client configures instead of the platform's address. */
export const baseAddressOf = (publicUrl: string, clientId: string): string =>
  `${publicUrl}${proxyPath}/${encodeURIComponent(clientId)}`;

/** The maximum requests in a second of a client, and of the strangers at one address. */
const requestsPerSecond = 50;

type ClientProxiesOptions = {
  readonly runs: ConformanceRuns;
  readonly requests: RecordedRequests;
};

/**
 * Creates a proxy at the address of each sandbox client. The proxy forwards requests to the platform, records
 * them, and answers with the faults that the developer requested. Answers 404 for an unknown client, 508 for
 * a path of the developer pages, 403 to the token of another client, and 429 after 50 requests in a second of
 * the client, or of the strangers at one address.
 */
export function clientProxies(
  portal: Portal,
  { runs, requests }: ClientProxiesOptions,
): NonNullable<Service['below']>[number]['serve'] {
  const { config, clock, clients, cookieName } = portal;
  const limiter = createRateLimiter(clock);
  const proxies = new Map<string, RecordingProxy>();

  const proxyOf = (clientId: string) => {
    const known = proxies.get(clientId);
    if (known !== undefined) return known;
    const made = createRecordingProxy({
      target: new URL(config.platformUrl),
      publicUrl: new URL(config.publicUrl),
      only: {
        clientId,
        path: `${proxyPath}/${encodeURIComponent(clientId)}`,
        isOwn: (authorization) =>
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
          requests.add(clientId, recordedRequestOf(exchange), exchange.clientId === clientId);
        },
      },
    });
    proxies.set(clientId, made);
    return made;
  };

  return (request, response) => {
    const [, encoded = '', path = ''] = /^\/([^/?]+)(\/.*)$/.exec(request.url) ?? [];
    const clientId = [...clients().keys()].find((id) => encodeURIComponent(id) === encoded);
    if (clientId === undefined) return sendStatus(response, 404);
    if (isOfPortal(path)) return sendStatus(response, 508);
    if (isOfOtherClient(request, clientId)) {
      response.setHeader('Launch-Refusal', 'unauthorized_client');
      return sendStatus(response, 403);
    }
    request.url = path;
    removeCookie(request, cookieName);
    const address = networkOf(plainAddress(response.locals.call?.address));
    proxyOf(clientId)(request, response, (proven) => {
      const caller = proven.clientId === undefined ? `address ${address}` : `client ${clientId}`;
      limiter.count(caller, requestsPerSecond);
      return caller;
    });
  };
}

/** Returns true if a path leads back to the portal, which could forward the request to itself many times. */
const isOfPortal = (path: string): boolean =>
  /^\/+developers(?:\/|$)/.test(URL.parse(`http://platform${path}`)?.pathname ?? '');

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
