import { redirect } from '@clinical-launch/http/answer';
import type { Endpoint } from '@clinical-launch/http/endpoint';
import { baseAddressOf } from './client-proxy.ts';
import type { Portal } from './portal.ts';

/**
 * Creates the start page at `/developers/`. It shows how to sign in, or the client of a developer who is signed
 * in. Also redirects `/developers`, which people type.
 */
export const home = (portal: Portal): readonly Endpoint[] => [
  portal.open('/developers', { GET: ({ response }) => redirect(response, '/developers/', 308) }),
  portal.open('/developers/', {
    GET(exchange) {
      const { config, show, findVisit, clients } = portal;
      const client = findVisit(exchange)?.client;
      // Shows the realm of the sandbox clients, because developers do not know it yet.
      const realm = client?.realm ?? [...clients().values()].find((one) => one.realm !== undefined)?.realm;
      const baseAddress = client && baseAddressOf(config.publicUrl, client.clientId);
      show(exchange.response, 'home.njk', { current: 'home', config, client, realm, baseAddress });
    },
  }),
];
