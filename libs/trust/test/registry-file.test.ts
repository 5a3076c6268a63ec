import { mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Registry } from '@clinical-launch/contracts/registry';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  fixedRegistry,
  followRegistry,
  type WatchedRegistry,
  watchRegistryFile,
} from '../src/registry-file.ts';

const registryOf = (...names: string[]) =>
  JSON.stringify({ realms: names.map((realm) => ({ realm, clients: [] })) });

let folder: string;
let path: string;
let watched: WatchedRegistry | undefined;
let changes: Registry[];
let faults: unknown[];
let wake: () => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'registry-'));
  path = join(folder, 'registry.json');
  await replace(registryOf('north'));
  [changes, faults, wake, watched] = [[], [], () => undefined, undefined];
});
afterEach(async () => {
  watched?.stop();
  await rm(folder, { recursive: true });
});

function watch(check?: (registry: Registry) => void): WatchedRegistry {
  watched = watchRegistryFile(path, {
    publicUrl: 'https://launch.example',
    everyMs: 5,
    ...withoutUndefined({ check }),
    onChange: (registry) => {
      changes.push(registry);
      wake();
    },
    onFault: (error) => {
      faults.push(error);
      wake();
    },
  });
  return watched;
}

/** Resolves when the next change or fault is reported. */
const nextReport = () => new Promise<void>((resolve) => (wake = resolve));
const realmsOf = ({ realms }: Registry) => realms.map(({ realm }) => realm);

/** Replaces the file atomically, so that a poll never reads half of it. */
async function replace(text: string): Promise<void> {
  await writeFile(`${path}.next`, text);
  await rename(`${path}.next`, path);
}

/** Changes the file, and waits until the change or fault is reported. */
async function change(make: () => Promise<void>): Promise<void> {
  const hearing = nextReport();
  await make();
  await hearing;
}

describe('a watched registry file', () => {
  it('takes effect without a restart when it is changed', async () => {
    const { current } = watch();
    expect(realmsOf(current())).toEqual(['north']);
    await change(() => replace(registryOf('north', 'south')));
    expect(realmsOf(current())).toEqual(['north', 'south']);
    await change(() => replace(registryOf('south')));
    expect(realmsOf(current())).toEqual(['south']);
    expect(changes).toHaveLength(2);
    expect(faults).toEqual([]);
  });

  it('is checked completely, including its suspended entries, which are then ignored', async () => {
    const client = { clientId: 'a', name: 'A', secrets: [], scopes: [] };
    const partner = { clientId: 'c', name: 'C', scopes: [], launchUrl: 'c:/l', redirectUris: ['c:/r'] };
    const registryWith = (state: object) => ({
      realms: [
        {
          realm: 'north/desktop',
          clients: [client, { ...client, clientId: 'b', ...state }],
          desktop: { partners: [{ ...partner, ...state }], sessionSeconds: 600 },
        },
      ],
      trustedIssuers: [
        { issuer: 'https://i.example', clients: [{ clientId: 'd', ...state }], audiences: ['x'] },
      ],
    });
    const { current } = watch((registry) => {
      if (JSON.stringify(registry).includes('"b"')) checked += 1;
    });
    let checked = 0;
    await change(() => replace(JSON.stringify(registryWith({ suspended: true }))));
    expect(checked).toBe(1);
    expect(current()).toEqual({
      realms: [{ realm: 'north/desktop', clients: [client], desktop: { partners: [], sessionSeconds: 600 } }],
      trustedIssuers: [{ issuer: 'https://i.example', clients: [], audiences: ['x'] }],
    });
    const resumed = registryWith({});
    await change(() => replace(JSON.stringify(resumed)));
    expect(current()).toEqual(resumed);
  });

  it('replaces ${PUBLIC_URL} with the address of the platform', async () => {
    const { current } = watch();
    const issuer = { issuer: '${PUBLIC_URL}/issuer', clients: [] };
    await change(() => replace(JSON.stringify({ realms: [], trustedIssuers: [issuer] })));
    expect(current().trustedIssuers?.[0]?.issuer).toBe('https://launch.example/issuer');
  });

  it.each([
    ['not JSON', '{'],
    ['of the wrong shape', '{"realms":[{"realm":"NORTH","clients":[]}]}'],
    ['a registry with a duplicate realm', registryOf('north', 'north')],
    ['empty', ''],
  ])(
    'is ignored and reported once while its content is %s, and is used again after a correction',
    async (_what, text) => {
      const { current } = watch();
      await change(() => replace(text));
      expect(realmsOf(current())).toEqual(['north']);
      expect(faults).toHaveLength(1);
      await change(() => replace(registryOf('south')));
      expect(realmsOf(current())).toEqual(['south']);
      expect(faults).toHaveLength(1);
    },
  );

  it('stays in effect with its last content while it is missing, and is read again after it returns', async () => {
    const { current } = watch();
    await change(() => unlink(path));
    expect(realmsOf(current())).toEqual(['north']);
    expect(String(faults[0])).toContain('ENOENT');
    await change(() => replace(registryOf('south')));
    expect(realmsOf(current())).toEqual(['south']);
  });

  it('stays in effect with its last content if the check refuses the new content', async () => {
    const { current } = watch(({ realms }) => {
      if (realms.some(({ realm }) => realm === 'demo')) throw new TypeError('not in production');
    });
    await change(() => replace(registryOf('demo')));
    expect(realmsOf(current())).toEqual(['north']);
    expect(String(faults[0])).toContain('not in production');
  });

  it('follows a changed symbolic link, as orchestrators update mounted files', async () => {
    await writeFile(join(folder, 'first.json'), registryOf('first'));
    await writeFile(join(folder, 'second.json'), registryOf('second'));
    await unlink(path);
    await symlink('first.json', path);
    const { current } = watch();
    await change(async () => {
      await symlink('second.json', join(folder, 'next'));
      await rename(join(folder, 'next'), path);
    });
    expect(realmsOf(current())).toEqual(['second']);
  });

  it('must be valid at the start', async () => {
    await writeFile(path, '{"realms":1}');
    expect(() => watch()).toThrow('The registry is invalid');
  });
});

describe('a value derived from a registry', () => {
  it('is derived again only when the registry has changed', () => {
    const [one, other] = [{ realms: [] }, { realms: [] }];
    let registry: Registry = one;
    let times = 0;
    const made = followRegistry({ current: () => registry }, () => (times += 1));
    expect([made(), made()]).toEqual([1, 1]);
    registry = other;
    expect([made(), made()]).toEqual([2, 2]);
    expect(followRegistry(fixedRegistry(one), (given) => given)()).toBe(one);
  });
});
