import { readFileSync } from 'node:fs';
import { type Manifest, ofKind } from './objects.ts';
import type { IngressSpec } from './references.ts';
import { root } from './render.ts';

/** The configuration of the edge, whose `use_backend` lines are the edge map. */
export const edgeConfiguration = readFileSync(`${root}deploy/docker/edge/haproxy.cfg`, 'utf8');

export type EdgeRule = { readonly path: string; readonly isPrefix: boolean; readonly service: string };

/** Returns the edge map, without the paths of the demo unless asked for. */
export const edgeMap = (configuration: string, { withDemo = false } = {}): readonly EdgeRule[] =>
  [...configuration.matchAll(/^ +use_backend (\S+) if \{ (path|path_beg) (\S+) \}(.*)$/gm)]
    .map(([, service = '', match, path = '']) => ({ path, isPrefix: match === 'path_beg', service }))
    .filter(({ service }) => withDemo || service !== 'simulators');

/** Returns the values of an `acl` of the edge, without the anchors of a regular expression. */
const aclOf = (configuration: string, name: string, match: string): readonly string[] =>
  [...configuration.matchAll(new RegExp(`^ +acl ${name} ${match} (.+)$`, 'gm'))].flatMap(([, values = '']) =>
    values.split(' '),
  );

/**
 * The Ingresses lead to the edge what it has a service for, and nothing else. `servers` has what the edge
 * allows to servers alone, and `browsers` the rest: what browsers open, and the endpoints of realms whose
 * partner applications run on users' machines.
 */
export function ingressMapFaults(
  objects: readonly Manifest[],
  { configuration = edgeConfiguration, withDemo = false } = {},
): readonly string[] {
  const ingresses = ofKind<IngressSpec>(objects, 'Ingress');
  const pathsOf = (ingress: string) =>
    ingresses
      .filter(({ name }) => name === ingress)
      .flatMap(({ spec }) => spec.rules)
      .flatMap(({ http }) => http.paths)
      .map(({ path, pathType, backend }) => `${pathType} ${path} ${backend.service.name}`);
  const isForServers = (path: string) =>
    aclOf(configuration, 'is-for-servers', 'path').includes(path) ||
    aclOf(configuration, 'is-for-servers', 'path_beg').includes(path);
  const mapped = edgeMap(configuration, { withDemo });
  const written = ({ path, isPrefix }: EdgeRule) =>
    path === '/' ? 'ImplementationSpecific /$ edge' : `${isPrefix ? 'Prefix' : 'Exact'} ${path} edge`;
  const public_ = aclOf(configuration, 'is-for-browsers', 'path_reg').map(withoutStart);
  const ofPartners = aclOf(configuration, 'is-for-partners', 'path_reg').map(withoutStart);
  const wanted = {
    servers: mapped.filter(({ path }) => isForServers(path)).map(written),
    browsers: [
      ...mapped.filter(({ path }) => !isForServers(path)).map(written),
      ...public_.map((path) => `ImplementationSpecific ${path} edge`),
    ],
  };
  const isOfPartners = (rule: string) => {
    const [type, path = '', service] = rule.split(' ');
    const realm = /^\/idp\/((?:[a-z0-9-]+\/)+)oauth2/.exec(path)?.[1] ?? '';
    return (
      type === 'ImplementationSpecific' &&
      service === 'edge' &&
      ofPartners.includes(path.replace(realm, '.+/'))
    );
  };
  return (['servers', 'browsers'] as const).flatMap((ingress) => {
    const has = pathsOf(ingress);
    return [
      ...wanted[ingress]
        .filter((rule) => !has.includes(rule))
        .map((rule) => `Ingress ${ingress} lacks ${rule}`),
      ...has
        .filter((rule) => !wanted[ingress].includes(rule) && !(ingress === 'browsers' && isOfPartners(rule)))
        .map((rule) => `Ingress ${ingress} has ${rule}, which the edge does not`),
    ];
  });
}

const withoutStart = (expression: string) => expression.replace(/^\^/, '');
