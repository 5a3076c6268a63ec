import type { IncomingMessage } from 'node:http';
import type { Attribution } from '@clinical-launch/conformance/attribution';
import { claimsOf, tokenIn } from '@clinical-launch/conformance/exchange';
import { isKnown } from '@clinical-launch/conformance/recorder';
import { createRecordingProxy, type RecordingProxy } from '@clinical-launch/conformance/recording-proxy';
import type { ConformanceRuns } from '@clinical-launch/conformance/runs';
import { sendStatus } from '@clinical-launch/http/answer';
import { networkOf, plainAddress } from '@clinical-launch/http/call';
import { createRateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Service } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { RecordedRequests } from '../store/recorded-requests.ts';
import type { Developers } from './portal.ts';

/** The path below which each client reaches the platform at its own address. */
export const proxyPath = '/developers/api';

/** Returns the base address that a client configures instead of the platform's address. */
export const baseAddressOf = (publicUrl: string, clientId: string): string =>
  `${publicUrl}${proxyPath}/${encodeURIComponent(clientId)}`;

/** The maximum requests in a second of a client, and of the strangers at one address. */
const requestsPerSecond = 50;

export type ProxiesOptions = {
  readonly runs: ConformanceRuns;
  readonly requests: RecordedRequests;
  readonly attribution: Attribution;
  /** Measures conformance runs. */
  readonly clock: Clock;
  /** The delay of the fault `slow` in milliseconds. By default, ten seconds. */
  readonly slowMs?: number | undefined;
  /** The cookie that the platform must not receive. */
  readonly cookieName?: string | undefined;
};

/**
 * Creates the proxies, which forward requests to the platform, record them, and answer with the faults that
 * the developer requested. `serve` has an address for each client. It answers 404 for an unknown client, 508
 * for a path of the developer pages, 403 to the token of another client, and 429 after 50 requests in a second
 * of the client, or of the strangers at one address. `forward` has no addresses of clients, so it records only
 * requests that prove their client.
 */
export function createProxies(
  { config, clients }: Pick<Developers, 'config' | 'clients'>,
  { runs, requests, attribution, clock, slowMs, cookieName }: ProxiesOptions,
) {
  const limiter = createRateLimiter(clock);
  const proxyOf = (clientId?: string) =>
    createRecordingProxy({
      target: new URL(config.platformUrl),
      publicUrl: new URL(config.publicUrl),
      baseAddress: clientId === undefined ? config.publicUrl : baseAddressOf(config.publicUrl, clientId),
      attribution,
      clock,
      slowMs,
      watch: {
        ...runs.watch,
        record(exchange) {
          runs.watch.record(exchange);
          const listed = clientId ?? (isKnown(exchange.request) ? exchange.clientId : undefined);
          if (listed !== undefined) requests.add(listed, exchange);
        },
      },
    });
  const proxies = new Map<string, RecordingProxy>();

  const serve: NonNullable<Service['below']>[number]['serve'] = (request, response) => {
    const [, encoded, path = ''] = /^\/([^/?]+)(\/.*)$/.exec(request.url) ?? [];
    const clientId = [...clients().keys()].find((id) => encodeURIComponent(id) === encoded);
    if (isOfPortal(path)) return sendStatus(response, 508);
    if (clientId === undefined) return sendStatus(response, 404);
    if (isOfOtherClient(request, clientId)) {
      response.setHeader('Launch-Refusal', 'unauthorized_client');
      return sendStatus(response, 403);
    }
    if (cookieName !== undefined) removeCookie(request, cookieName);
    request.url = path;
    const address = networkOf(plainAddress(response.locals.call?.address));
    const proxy = proxies.get(clientId) ?? proxyOf(clientId);
    proxies.set(clientId, proxy);
    proxy(request, response, (attributed) => {
      const caller = attributed.clientId === clientId ? `client ${clientId}` : `address ${address}`;
      limiter.count(caller, requestsPerSecond);
      return caller;
    });
  };

  return { serve, forward: proxyOf() };
}

// The request of another client must not be recorded, because the developers of `clientId` could see it.
function isOfOtherClient(request: IncomingMessage, clientId: string): boolean {
  const claims = claimsOf(tokenIn(request));
  const stated = ['client_id', 'azp', 'appid'].map((name) => claims[name]).find((id) => id !== undefined);
  return stated !== undefined && stated !== clientId;
}

/** Returns true if a path leads back to the portal, which could forward the request to itself many times. */
const isOfPortal = (path: string): boolean =>
  /^\/+developers(?:\/|$)/.test(URL.parse(`http://platform${path}`)?.pathname ?? '');

/** Removes the cookie of the portal's session, which the platform must not receive. */
function removeCookie(request: IncomingMessage, name: string): void {
  const others = (request.headers.cookie ?? '').split(/; */).filter((pair) => !pair.startsWith(`${name}=`));
  if (others.join('') === '') delete request.headers.cookie;
  else request.headers.cookie = others.join('; ');
}
