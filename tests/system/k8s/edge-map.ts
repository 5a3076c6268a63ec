import { readFileSync } from 'node:fs';
import { root } from './render.ts';

const configuration = readFileSync(`${root}deploy/docker/edge/haproxy.cfg`, 'utf8');

/** The edge map: the `use_backend` lines of the edge's configuration. */
export const edgeMap = [
  ...configuration.matchAll(/^ +use_backend (\S+) if \{ (path|path_beg) (\S+) \}/gm),
].map(([, service = '', match, path = '']) => ({ path, isPrefix: match === 'path_beg', service }));
