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

/** The load does not reach the resource API, which few tests start. */
export type ServiceName = (typeof serviceNames)[number] | 'resource-api';

export type Replica = { readonly service: ServiceName; readonly url: string; readonly adminUrl: string };

/** The edge map; the prefix of the identity provider is removed, as everywhere. */
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
   * Sends a request to a replica of the service that its path belongs to.
   * @throws Error when there is no answer.
   */
  send(request: Omit<HttpRequest, 'url'> & { readonly path: string }): Promise<HttpAnswer>;
  close(): void;
};

const lookEveryMs = 250;
/**
 * A process that says nothing for a second is busy, not gone: a load balancer, too, asks it more than once.
 */
const lookTimeoutMs = 5000;

/**
 * What a load balancer does: knows from `/readyz` which replicas take requests, and uses these in turn.
 * Without any that is ready it uses all of them, so that clients hear from the service itself what is wrong.
 * It repeats nothing.
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

/** Sends everything to one address, behind which somebody else balances. */
export const openAddress = (url: string): Edge => ({
  send: ({ path, ...request }) => sendRequest({ ...request, url: `${url}${path}` }),
  close: () => undefined,
});

function placeOf(path: string) {
  const place = edgeMap.find(({ prefix }) => path.startsWith(prefix));
  if (place === undefined) throw new TypeError(`No service answers ${path}`);
  return place;
}
