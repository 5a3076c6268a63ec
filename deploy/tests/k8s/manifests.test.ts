import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startPlatformForTest } from '../system/running-platform.ts';
import { edgeConfiguration, edgeMap, ingressMapFaults } from './edge-map.ts';
import { denyFaults, peerFaults } from './network.ts';
import type { Manifest } from './objects.ts';
import {
  budgetFaults,
  graceFaults,
  imageFaults,
  probeFaults,
  resourceFaults,
  securityFaults,
} from './pods.ts';
import { type OutsideSecrets, referenceFaults, selectorFaults } from './references.ts';
import { overlays, render, root } from './render.ts';
import { schemaFaults } from './schema-faults.ts';
import { unreadFaults, unsetFaults } from './settings.ts';

/** The Secrets that an operator of production creates, as the table of the overlay's README lists them. */
function secretsOfProduction(): OutsideSecrets {
  const readme = readFileSync(`${root}k8s/overlays/production/README.md`, 'utf8');
  return new Map(
    [...readme.matchAll(/^\| `([a-z-]+)` \| (.*) \|$/gm)].map(([, name = '', keys = '']) => [
      `Secret ${name}`,
      [...keys.matchAll(/`([a-z.-]+)`/g)].map(([, key = '']) => key),
    ]),
  );
}

/** Who calls the internet, by `docs/operations.md`, "What runs". The demo calls nobody. */
const outbound = ['identity-provider', 'launch-api', 'order-renderer', 'audit-trail'];

describe.each(overlays)('the overlay %s', (overlay) => {
  const isProduction = overlay === 'production';
  let objects: readonly Manifest[];
  beforeAll(() => {
    objects = render(overlay);
  });

  it('has objects that the API of Kubernetes accepts, each once', async () => {
    const faults = await Promise.all(objects.map(schemaFaults));
    expect(faults.flat()).toEqual([]);
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names).toEqual([...new Set(names)]);
    expect(names.length).toBeGreaterThan(50);
  });

  it('has Services, budgets, autoscalers and Ingresses that lead to what exists', () => {
    expect(selectorFaults(objects)).toEqual([]);
  });

  it('has Pods whose ConfigMaps, Secrets, keys, accounts, volumes, ports and paths exist', () => {
    expect(referenceFaults(objects, isProduction ? secretsOfProduction() : new Map())).toEqual([]);
  });

  it('has Pods of the restricted Pod Security Standard', () => {
    expect(securityFaults(objects)).toEqual([]);
  });

  it('has images that do not change, with requests and limits', () => {
    expect(imageFaults(objects, { byDigest: isProduction })).toEqual([]);
    expect(resourceFaults(objects)).toEqual([]);
  });

  it('has probes, time to stop, and budgets that allow an eviction', () => {
    expect([...probeFaults(objects), ...graceFaults(objects), ...budgetFaults(objects)]).toEqual([]);
  });

  it('sets the variables that each process reads and requires, and no others', () => {
    expect([...unreadFaults(objects), ...unsetFaults(objects)]).toEqual([]);
  });

  it('lets each Pod reach what its configuration names, and nothing else', () => {
    expect(denyFaults(objects)).toEqual([]);
    expect(peerFaults(objects, isProduction ? outbound : [])).toEqual([]);
  });

  it('has the paths of the edge map in its Ingresses', () => {
    expect(ingressMapFaults(objects, { withDemo: !isProduction })).toEqual([]);
  });
});

describe('the edge map', () => {
  let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
  beforeAll(async () => {
    platform = await startPlatformForTest();
  });
  afterAll(() => platform.stop());

  /** An address below each path, with the status that only its service answers. */
  const probes: Readonly<Record<string, readonly [string, number]>> = {
    '/idp/': ['/idp/demo/discovery/v2.0/keys', 200],
    '/AccessApi/': ['/AccessApi/openapi.json', 200],
    '/secureLaunch': ['/secureLaunch', 401],
    '/oltr/': ['/oltr/', 200],
    '/orders/': ['/orders/d3b07384-d9a0-4c9b-8f2e-000000000001/notepad', 401],
    '/audit': ['/audit', 308],
    '/audit/': ['/audit/events', 401],
    '/resource/': ['/resource/me', 401],
    '/': ['/', 200],
    '/demo/': ['/demo/pms', 200],
  };

  it('is that of the platform in one process', async () => {
    const paths = edgeMap(edgeConfiguration, { withDemo: true }).map(({ path }) => path);
    expect(Object.keys(probes).toSorted()).toEqual(paths.toSorted());
    const statuses = await Promise.all(
      Object.values(probes).map(async ([address]) => {
        const response = await fetch(`${platform.url}${address}`, { redirect: 'manual' });
        await response.arrayBuffer();
        return [address, response.status];
      }),
    );
    expect(statuses).toEqual(Object.values(probes));
    expect((await fetch(`${platform.url}/nowhere/`)).status).toBe(404);
  });
});
