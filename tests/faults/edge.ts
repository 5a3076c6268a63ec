import { setTimeout as delay } from 'node:timers/promises';
import { type HttpAnswer, type HttpRequest, sendRequest } from './send-request.ts';

export const serviceNames = [
  'identity-provider',
  'launch-api',
  'launch-gateway',
  'ordering',
  'order-renderer',
  'audit-trail',
] as const;

/** A service that tests can start. The load does not use the resource API, and few tests start it. */
export type ServiceName = (typeof serviceNames)[number] | 'resource-api';

export type Replica = { readonly service: ServiceName; readonly url: string; readonly adminUrl: string };

/** The paths of each service. As at the real edge, `/idp` is removed before a request is forwarded. */
const edgeMap: readonly { readonly prefix: string; readonly service: ServiceName }[] = [
  { prefix: '/idp/', service: 'identity-provider' },
  { prefix: '/AccessApi/', service: 'launch-api' },
  { prefix: '/secureLaunch', service: 'launch-gateway' },
  { prefix: '/oltr/', service: 'ordering' },
  { prefix: '/orders/', service: 'order-renderer' },
  { prefix: '/audit/', service: 'audit-trail' },
  { prefix: '/resource/', service: 'resource-api' },
];

export type Edge = {
  /**
   * Sends a request to a replica of the service for its path.
   * @throws Error if there is no answer
   */
  send(request: Omit<HttpRequest, 'url'> & { readonly path: string }): Promise<HttpAnswer>;
  close(): void;
};

const lookEveryMs = 250;
/**
 * The milliseconds after which a process that does not answer counts as not ready. A busy process may not
 * answer for a second.
 */
const lookTimeoutMs = 5000;

/**
 * Balances requests in turn among the replicas whose `/readyz` answers 200. If none is ready, uses all of
 * them, so that clients receive the service's own error. Does not retry.
 */
export function openEdge(replicas: readonly Replica[]): Edge {
  const closing = new AbortController();
  const ready = new Set(replicas);
  let turn = 0;

  const follow = async (replica: Replica) => {
    while (!closing.signal.aborted) {
      const look = sendRequest({ url: `${replica.adminUrl}/readyz`, timeoutMs: lookTimeoutMs });
      const isReady = await look.then(
        ({ status }) => status === 200,
        () => false,
      );
      if (isReady) ready.add(replica);
      else ready.delete(replica);
      await delay(lookEveryMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };
  for (const replica of replicas) void follow(replica);

  const choose = (service: ServiceName): Replica => {
    const its = replicas.filter((replica) => replica.service === service);
    const usable = its.filter((replica) => ready.has(replica));
    const among = usable.length > 0 ? usable : its;
    turn += 1;
    const chosen = among[turn % among.length];
    if (chosen === undefined) throw new TypeError(`There is no ${service}`);
    return chosen;
  };

  return {
    async send({ path, ...request }) {
      const { service, prefix } = placeOf(path);
      const replica = choose(service);
      const behind = service === 'identity-provider' ? path.slice(prefix.length - 1) : path;
      try {
        return await sendRequest({ ...request, url: `${replica.url}${behind}` });
      } catch (error) {
        ready.delete(replica);
        throw error;
      }
    },
    close: () => closing.abort(),
  };
}

/** Sends every request to one address, which has its own load balancer. */
export const openAddress = (url: string): Edge => ({
  send: ({ path, ...request }) => sendRequest({ ...request, url: `${url}${path}` }),
  close: () => undefined,
});

function placeOf(path: string) {
  const place = edgeMap.find(({ prefix }) => path.startsWith(prefix));
  if (place === undefined) throw new TypeError(`No service answers ${path}`);
  return place;
}
