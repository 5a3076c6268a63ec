import type { IncomingMessage } from 'node:http';
import { sendStatus } from '@clinical-launch/http/answer';
import { claimsOf, tokenIn } from './exchange.ts';
import type { RecordingProxy } from './recording-proxy.ts';

/** Returns the path of a client's base address, below the path of all base addresses. */
export const basePathOf = (path: string, clientId: string): string =>
  `${path}/${encodeURIComponent(clientId)}`;

type ClientProxiesOptions = {
  readonly path: string;
  readonly clientIds: () => Iterable<string>;
  /** Creates the proxy of a client, once. */
  readonly proxyOf: (clientId: string, basePath: string) => RecordingProxy;
};

/**
 * Serves each client at its own base address, with a proxy of its own. Reads request addresses without the
 * path of all base addresses. Answers 404 for an unknown client, and 403 to the token of another client.
 */
export function createClientProxies({ path, clientIds, proxyOf }: ClientProxiesOptions): RecordingProxy {
  const proxies = new Map<string, RecordingProxy>();
  return (request, response, admit) => {
    const [, encoded, rest = ''] = /^\/([^/?]+)(\/.*)$/.exec(request.url ?? '') ?? [];
    const clientId = [...clientIds()].find((id) => encodeURIComponent(id) === encoded);
    if (clientId === undefined) return sendStatus(response, 404);
    if (isOfOtherClient(request, clientId)) {
      response.setHeader('Launch-Refusal', 'unauthorized_client');
      return sendStatus(response, 403);
    }
    request.url = rest;
    const proxy = proxies.get(clientId) ?? proxyOf(clientId, basePathOf(path, clientId));
    proxies.set(clientId, proxy);
    proxy(request, response, admit);
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
