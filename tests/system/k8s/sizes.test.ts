import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { services } from '../../../tools/docs/settings.ts';
import { workloadsOf } from './objects.ts';
import { render, root } from './render.ts';

const guide = readFileSync(`${root}docs/guides/deploy.md`, 'utf8');
const workloads = workloadsOf(render('demo'));
const mebibytes = (memory: string) => memory.replace(/Mi$/, ' MiB');

/** Returns the requests and the limit of a Pod as the guide writes them. */
function sizeOf(workload: string): string[] {
  const { requests, limits } =
    workloads.find(({ name }) => name === workload)?.pod.containers[0]?.resources ?? {};
  if (requests === undefined || limits === undefined) throw new Error(`${workload} has no resources`);
  return [
    `${requests.cpu}, ${mebibytes(requests.memory)}`,
    `${limits.cpu} core, ${mebibytes(limits.memory)}`,
  ];
}

type Compose = {
  readonly services: Readonly<
    Record<
      string,
      { readonly deploy: { readonly resources: { readonly limits: { readonly memory: string } } } }
    >
  >;
};
const compose = parse(readFileSync(`${root}docker-compose.yml`, 'utf8'), { merge: true }) as Compose;

describe('the sizes in the deployment guide', () => {
  it.each([
    ['each service', services],
    ['edge', ['edge']],
  ])('are the requests and limits of %s on Kubernetes', (row, names) => {
    const cells = new RegExp(`^\\| ${row} \\| (.*) \\| (.*) \\|$`, 'm').exec(guide)?.slice(1);
    expect(names.map(sizeOf)).toEqual(names.map(() => cells));
  });

  it.each([...services, 'edge'])('give %s as much memory as Compose does', (name) => {
    const { memory } = compose.services[name]?.deploy.resources.limits ?? {};
    expect(sizeOf(name)[1]).toBe(`1 core, ${memory?.replace('M', ' MiB')}`);
  });
});
