import { readFileSync } from 'node:fs';
import { root } from './render.ts';

const configuration = readFileSync(`${root}deploy/docker/edge/haproxy.cfg`, 'utf8');

/** The routes of the edge: the `use_backend` lines of its haproxy.cfg. */
export const edgeMap = [
  ...configuration.matchAll(/^ +use_backend (\S+) if \{ (path|path_beg|path_reg) (\S+) \}/gm),
].map(([, service = '', match, path = '']) => ({ path, isPrefix: match === 'path_beg', service }));
