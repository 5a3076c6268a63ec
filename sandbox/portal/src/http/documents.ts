import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { redirect, sendText } from '@clinical-launch/http/answer';
import { type Endpoint, type Handler, textParameter } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { isDemoClient } from '../domain/sandbox-clients.ts';
import { baseAddressOf } from './client-proxy.ts';
import type { Portal } from './portal.ts';

const folder = new URL('../../pages/', import.meta.url);

/** Creates the error for an address without a page. */
export const pageNotFound = () => new ServiceError({ code: 'not_found', message: 'Page not found' });

type Entry = {
  readonly group: 'guides' | 'reference' | 'examples' | 'diagrams';
  readonly slug: string;
  readonly title: string;
  /** The position of the document in its group, from 0. */
  readonly order: number;
};

/**
 * Creates the pages of the guides with their pictures, the reference and the examples. `npm run docs` writes
 * their content as fragments of HTML. Reads only documents that the index lists, so a path cannot name
 * another file.
 */
export function documentPages({ open, show, config }: Pick<Portal, 'open' | 'show' | 'config'>): Endpoint[] {
  const index: readonly Entry[] = JSON.parse(readFileSync(new URL('index.json', folder), 'utf8'));
  const listed = (group: Entry['group']) =>
    index.filter((entry) => entry.group === group).toSorted((one, other) => one.order - other.order);
  const lists = [
    { title: 'Guides', entries: listed('guides') },
    { title: 'Reference', entries: listed('reference') },
  ];
  const find = (group: Entry['group'], slug: string): Entry => {
    const entry = index.find((one) => one.group === group && one.slug === slug);
    if (entry === undefined) throw pageNotFound();
    return entry;
  };
  const showFragment =
    (group: Entry['group']): Handler =>
    async (exchange) => {
      const { slug, title } = find(group, textParameter(exchange, 'slug'));
      const written = await readFile(new URL(`${group}/${slug}.html`, folder), 'utf8');
      // The guides are written for a platform on the reader's machine.
      const html = written.replaceAll('BASE_URL=http://localhost:8080', `BASE_URL=${config.publicUrl}`);
      show(exchange.response, 'document.njk', { current: 'documents', group, slug, title, html, lists });
    };
  return [
    open('/developers/guides', { GET: ({ response }) => redirect(response, '/developers/guides/pms') }),
    open('/developers/guides/:slug', { GET: showFragment('guides') }),
    open('/developers/reference/:slug', { GET: showFragment('reference') }),
    open('/developers/diagrams/:name', {
      async GET(exchange) {
        const { slug } = find('diagrams', textParameter(exchange, 'name'));
        sendText(exchange.response, 'image/svg+xml', await readFile(new URL(`diagrams/${slug}`, folder)));
      },
    }),
    open('/developers/examples/:name', {
      async GET(exchange) {
        const { slug } = find('examples', textParameter(exchange, 'name'));
        sendText(exchange.response, 'text/plain', await readFile(new URL(`examples/${slug}.txt`, folder)));
      },
    }),
  ];
}

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
      const demoClients = [...clients().values()].filter(isDemoClient).map(({ clientId }) => clientId);
      const model = { current: 'home', config, client, realm, baseAddress, demoClients };
      show(exchange.response, 'home.njk', model);
    },
  }),
];
