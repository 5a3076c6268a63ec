import type { IncomingMessage } from 'node:http';
import { createAttribution } from '@clinical-launch/conformance/attribution';
import { basePathOf, createClientProxies } from '@clinical-launch/conformance/client-proxies';
import { createRecordingProxy } from '@clinical-launch/conformance/recording-proxy';
import type { ConformanceRuns } from '@clinical-launch/conformance/runs';
import { sendStatus } from '@clinical-launch/http/answer';
import { networkOf, plainAddress } from '@clinical-launch/http/call';
import { createRateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Service } from '@clinical-launch/process/service';
import type { RecordedRequests } from '../store/recorded-requests.ts';
import type { Portal } from './portal.ts';

/** The path below which each sandbox client reaches the platform at its own address. */
export const proxyPath = '/developers/api';

/** Returns the base address that a sandbox client configures instead of the platform's address. */
export const baseAddressOf = (publicUrl: string, clientId: string): string =>
  `${publicUrl}${basePathOf(proxyPath, clientId)}`;

/** The maximum requests in a second of a client, and of the strangers at one address. */
const requestsPerSecond = 50;

/**
 * Creates a proxy at the address of each sandbox client. The proxy forwards requests to the platform, records
 * them, and answers with the faults that the developer requested. Answers 404 for an unknown client, 508 for
 * a path of the developer pages, 403 to the token of another client, and 429 after 50 requests in a second of
 * the client, or of the strangers at one address.
 */
export function clientProxies(
  portal: Portal,
  { runs, requests }: { readonly runs: ConformanceRuns; readonly requests: RecordedRequests },
): NonNullable<Service['below']>[number]['serve'] {
  const { config, clock, clients, cookieName } = portal;
  const limiter = createRateLimiter(clock);
  const serve = createClientProxies({
    path: proxyPath,
    clientIds: () => clients().keys(),
    proxyOf: (clientId, basePath) =>
      createRecordingProxy({
        target: new URL(config.platformUrl),
        publicUrl: new URL(config.publicUrl),
        basePath,
        attribution: createAttribution({
          clientId,
          isOwn: (authorization) =>
            portal.tokens.verify(authorization).then(
              (caller) => caller.clientId === clientId,
              () => false,
            ),
        }),
        clock,
        watch: {
          ...runs.watch,
          record(exchange) {
            runs.watch.record(exchange);
            requests.add(clientId, exchange);
          },
        },
      }),
  });

  return (request, response) => {
    if (isOfPortal(request.url.replace(/^\/[^/?]+/, ''))) return sendStatus(response, 508);
    removeCookie(request, cookieName);
    const address = networkOf(plainAddress(response.locals.call?.address));
    serve(request, response, ({ clientId }) => {
      const caller = clientId === undefined ? `address ${address}` : `client ${clientId}`;
      limiter.count(caller, requestsPerSecond);
      return caller;
    });
  };
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
