import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { type WatchedRegistry, watchRegistryFile } from '@clinical-launch/trust/registry-file';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  aLaunch,
  aPartner,
  authorizeFields,
  aVerifier,
  desktopRealms,
  type RunningDesktop,
  realm,
  runDesktop,
} from './running-desktop.ts';
import { aClient } from './running-identity-provider.ts';

const clock = new TestClock();
let folder: string;
let path: string;
let storage: Storage;
let watched: WatchedRegistry;
let wake: () => void;
let running: RunningDesktop;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'registry-'));
  path = join(folder, 'registry.json');
  await writeFile(path, JSON.stringify({ realms: desktopRealms() }));
  storage = await openTestStorage();
  running = await runDesktop({
    clock,
    storage,
    registryAt: (publicUrl) => {
      const report = () => wake();
      watched = watchRegistryFile(path, { publicUrl, everyMs: 5, onChange: report, onFault: report });
      return watched;
    },
  });
});
afterAll(async () => {
  watched.stop();
  await running.stop();
  await storage.close();
  await rm(folder, { recursive: true });
});

async function write(registry: unknown): Promise<void> {
  const reported = new Promise<void>((resolve) => (wake = resolve));
  // Replaces the file in one step, because a half-written file could be read and reported as invalid.
  await writeFile(`${path}.new`, typeof registry === 'string' ? registry : JSON.stringify(registry));
  await rename(`${path}.new`, path);
  await reported;
}

describe('a registry changed at runtime', () => {
  it('immediately gives keys to a new realm, and tokens to its new client', async () => {
    expect((await running.idp.token('late', { client_id: 'newcomer' })).status).toBe(404);
    const late = { realm: 'late', signingAlgorithm: 'ES256', clients: [aClient({ clientId: 'newcomer' })] };
    await write({ realms: [...desktopRealms(), late] });
    expect((await running.idp.keySet('late')).keys).toHaveLength(1);
    expect((await running.idp.token('late', { client_id: 'newcomer' })).status).toBe(200);
  });

  it('enables a new partner, and disables a removed partner', async () => {
    const partners = [aPartner(), aPartner({ clientId: 'newcomer' })];
    const [host] = desktopRealms();
    await write({ realms: [host, { realm, clients: [], desktop: { partners } }] });
    const tokens = await running.tokensFor({ client_id: 'newcomer' });
    const launch = await running.launchFor({ client_id: 'newcomer' });
    await write({ realms: desktopRealms() });
    const response = await running.refresh(tokens.refreshToken);
    expect(response.status).toBe(400);
    const { challenge } = aVerifier();
    const asked = { ...authorizeFields({ launch, challenge }), client_id: 'newcomer' };
    expect((await running.postAuthorize(asked)).status).toBe(400);
    expect((await running.postLaunch(aLaunch({ client_id: 'newcomer' }))).status).toBe(400);
  });

  it('deactivates the tokens of a removed client', async () => {
    const { access_token } = await running.idp.token('north');
    const token = String(access_token);
    expect((await running.introspect(token, 'north')).active).toBe(true);
    const [host, ...others] = desktopRealms();
    const clients = (host?.clients ?? []).filter((client) => client.clientId !== 'pms-north');
    await write({ realms: [{ ...host, clients }, ...others] });
    expect(await running.introspect(token, 'north')).toEqual({ active: false });
    await write({ realms: desktopRealms() });
  });

  it('gives no token to a suspended client, and deactivates its tokens, until the client is resumed', async () => {
    const token = String((await running.idp.token('north')).access_token);
    const [host, ...others] = desktopRealms();
    const clients = host?.clients.map((client) =>
      client.clientId === 'pms-north' ? { ...client, suspended: true } : client,
    );
    await write({ realms: [{ ...host, clients }, ...others] });
    expect(await running.idp.token('north')).toMatchObject({ status: 401, error: 'invalid_client' });
    expect(await running.introspect(token, 'north')).toEqual({ active: false });
    await write({ realms: desktopRealms() });
    expect((await running.idp.token('north')).status).toBe(200);
    expect((await running.introspect(token, 'north')).active).toBe(true);
  });

  it('refuses launches and refreshes of a suspended partner until the partner is resumed', async () => {
    const tokens = await running.tokensFor();
    const [host] = desktopRealms();
    const partners = [aPartner({ suspended: true })];
    await write({ realms: [host, { realm, clients: [], desktop: { partners } }] });
    expect((await running.refresh(tokens.refreshToken)).status).toBe(400);
    expect((await running.postLaunch(aLaunch())).status).toBe(400);
    await write({ realms: desktopRealms() });
    expect((await running.refresh(tokens.refreshToken)).status).toBe(200);
  });

  it('lets a realm issue tokens again after the realm was removed and restored', async () => {
    const [host, ...others] = desktopRealms();
    await write({ realms: [{ ...host, realm: 'renamed' }, ...others] });
    // This request makes the service read the keys again, while the registry does not
    // contain the realm `north`.
    expect((await running.idp.token('renamed')).status).toBe(200);
    expect((await running.idp.token('north')).status).toBe(404);
    await write({ realms: desktopRealms() });
    expect((await running.idp.token('north')).status).toBe(200);
  });

  it('is ignored if it is invalid', async () => {
    await write('{"realms": [}');
    await expect(running.tokensFor()).resolves.toHaveProperty('accessToken');
  });
});
