import { readFileSync } from 'node:fs';
import { root } from './render.ts';

const configuration = readFileSync(`${root}deploy/docker/edge/haproxy.cfg`, 'utf8');

/** The edge map: the `use_backend` lines of the edge's configuration. */
export const edgeMap = [
  ...configuration.matchAll(/^ +use_backend (\S+) if \{ (path|path_beg) (\S+) \}/gm),
].map(([, service = '', match, path = '']) => ({ path, isPrefix: match === 'path_beg', service }));

/** Returns the values of an access list of the edge. */
const listed = (name: string, match: string): readonly string[] =>
  [...configuration.matchAll(new RegExp(`^ +acl ${name} ${match} (.+)$`, 'gm'))].flatMap(([, values = '']) =>
    values.replaceAll('^', '').split(' '),
  );

/**
 * Returns the paths that the Ingresses must have, such as `servers: Prefix /audit/`. The Ingress `servers`
 * has the paths that the edge restricts to servers. The Ingress `browsers` has the rest: the pages, and the
 * endpoints of a realm whose partner applications run on users' machines.
 */
export function ingressPaths({ realm, withDemo }: { realm: string; withDemo: boolean }): string[] {
  const forServers = [...listed('is-for-servers', 'path'), ...listed('is-for-servers', 'path_beg')];
  const forBrowsers = listed('is-for-browsers', 'path_reg');
  const forPartners = listed('is-for-partners', 'path_reg').map((path) => path.replace('.+', realm));
  return [
    ...edgeMap
      .filter(({ service }) => withDemo || service !== 'simulators')
      .map(({ path, isPrefix }) => {
        const ingress = forServers.includes(path) ? 'servers' : 'browsers';
        if (path === '/') return `${ingress}: ImplementationSpecific /$`;
        return `${ingress}: ${isPrefix ? 'Prefix' : 'Exact'} ${path}`;
      }),
    ...[...forBrowsers, ...forPartners].map((path) => `browsers: ImplementationSpecific ${path}`),
  ];
}
