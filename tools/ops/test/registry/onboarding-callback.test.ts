import { readFile, writeFile } from 'node:fs/promises';
import { callbackSecretPurpose, type RegisteredCallback } from '@clinical-launch/contracts/registry';
import { parseRegistry } from '@clinical-launch/contracts/registry-reading';
import { openSealers } from '@clinical-launch/process/sealing-keys';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openRegistryCopy } from './registry-copy.ts';

let copy: Awaited<ReturnType<typeof openRegistryCopy>>;
beforeEach(async () => {
  copy = await openRegistryCopy();
});
afterEach(async () => copy.remove());

const key = (letter: string) => `${letter}:${Buffer.alloc(32, letter).toString('base64url')}`;
const keys = { SEALING_KEYS: key('a') };
const other = ['--realm', 'demo', '--client-id', 'pms-other'];
const url = 'https://pms.example/callbacks';
const secretForm = /^whsec_[A-Za-z0-9+/]{43}=$/;

const callbackOf = async (clientId = 'pms-other') => (await copy.clientNamed('demo', clientId))?.callback;

/** Returns the secrets of a callback, opened as the services do. */
const secretsOf = (callback: RegisteredCallback | undefined, environment = keys) =>
  callback?.secrets.map(({ sealed }) =>
    openSealers(environment, ['callback']).callback.open(callbackSecretPurpose, sealed, []),
  );

/** Registers a callback for `pms-other`, and returns its secret. */
async function aCallback(environment = keys): Promise<string> {
  const { reported } = await copy.runWith(environment, 'set-callback', ...other, '--url', url);
  return String(reported.get('callback_secret'));
}

describe('set-callback', () => {
  it('prints the secret once, and adds only the sealed secret to the file', async () => {
    const { code, reported, errors } = await copy.runWith(keys, 'set-callback', ...other, '--url', url);
    expect({ code, errors, by: reported.get('sealed with the key') }).toEqual({
      code: 0,
      errors: '',
      by: 'a',
    });
    const secret = String(reported.get('callback_secret'));
    expect(secret).toMatch(secretForm);
    const callback = await callbackOf();
    expect(callback?.url).toBe(url);
    expect(secretsOf(callback)).toEqual([secret]);
    expect(await copy.text()).not.toContain('whsec_');
    expect((await copy.changedLines()).isKept).toBe(true);
  });

  it('changes the address of an existing callback, and keeps its secret', async () => {
    const secret = await aCallback();
    const { code, reported } = await copy.runWith(keys, 'set-callback', ...other, '--url', `${url}/new`);
    expect([code, reported.has('callback_secret')]).toEqual([0, false]);
    expect((await callbackOf())?.url).toBe(`${url}/new`);
    expect(secretsOf(await callbackOf())).toEqual([secret]);
  });

  it('registers a callback for a client of a trusted issuer', async () => {
    const issuer = 'https://login.example/tenant';
    const registry = JSON.parse(copy.before) as object;
    const trusted = { ...registry, trustedIssuers: [{ issuer, clients: [{ clientId: 'pms' }] }] };
    await writeFile(copy.path, JSON.stringify(trusted, null, 2));
    const of = ['--realm', issuer, '--client-id', 'pms'];
    const { code, reported } = await copy.runWith(keys, 'set-callback', ...of, '--url', url);
    expect(code).toBe(0);
    const { trustedIssuers } = parseRegistry(
      JSON.parse((await copy.text()).replaceAll('${PUBLIC_URL}', 'https://p.example')),
    );
    expect(secretsOf(trustedIssuers?.[0]?.clients[0]?.callback)).toEqual([reported.get('callback_secret')]);
  });

  it.each([
    ['https://pms.example', true],
    ['https://pms.example:8443/callbacks?practice=7', true],
    ['${PUBLIC_URL}/demo/pms/callbacks', true],
    ['http://127.0.0.1:9000/callbacks', true],
    ['http://localhost/callbacks', true],
    ['http://[::1]/callbacks', true],
    ['http://pms.example/callbacks', false],
    ['http://127.0.0.1.pms.example/', false],
    ['http://127.0.0.example/', false],
    ['https://user:secret@pms.example/', false],
    ['https://pms.example/#part', false],
    ['https://pms.example/ä', false],
    ['ftp://pms.example/', false],
    ['pms.example', false],
  ])('accepts %s: %s', async (address, isFine) => {
    const { code, errors } = await copy.runWith(keys, 'set-callback', ...other, '--url', address);
    expect({ address, code }).toEqual({ address, code: isFine ? 0 : 2 });
    expect(errors).toMatch(isFine ? /^$/ : /^--url must /);
  });

  it('refuses http and unset sealing keys in production', async () => {
    const production = { ...keys, NODE_ENV: 'production' };
    const set = (environment: typeof production | { NODE_ENV: string }, address: string) =>
      copy.runWith(environment, 'set-callback', ...other, '--url', address);
    expect((await set(production, 'http://127.0.0.1/')).errors).toBe('--url must be https\n');
    expect((await set({ NODE_ENV: 'production' }, url)).errors).toContain('SEALING_KEYS is not set');
    expect(await copy.text()).toBe(copy.before);
    expect((await set(production, url)).code).toBe(0);
  });

  it('refuses an unknown client', async () => {
    const set = (...of: string[]) => copy.runWith(keys, 'set-callback', ...of, '--url', url);
    expect((await set('--realm', 'demo', '--client-id', 'nobody')).errors).toBe(
      'The realm demo has no client nobody\n',
    );
    expect((await set('--realm', 'https://nobody.example', '--client-id', 'x')).errors).toBe(
      'The issuer https://nobody.example has no client x\n',
    );
  });
});

describe('roll-callback-secret', () => {
  it('creates a new secret, and keeps the old secret for a day', async () => {
    const old = await aCallback();
    const startedAt = Date.now();
    const { code, reported } = await copy.runWith(keys, 'roll-callback-secret', ...other);
    expect(code).toBe(0);
    const callback = await callbackOf();
    expect(secretsOf(callback)).toEqual([old, reported.get('callback_secret')]);
    const rolledAt = Date.parse(callback?.secrets[0]?.expires ?? '') - 24 * 3_600_000;
    expect(rolledAt).toBeGreaterThanOrEqual(startedAt);
    expect(rolledAt).toBeLessThanOrEqual(Date.now());
    expect(callback?.secrets[1]).not.toHaveProperty('expires');
  });

  it('replaces two live secrets only with --keep-old-hours 0', async () => {
    await aCallback();
    await copy.runWith(keys, 'roll-callback-secret', ...other);
    const { code, errors } = await copy.runWith(keys, 'roll-callback-secret', ...other);
    expect({ code, errors }).toEqual({
      code: 1,
      errors: expect.stringMatching(/^Two secrets are live, one until/),
    });
    const atOnce = ['roll-callback-secret', ...other, '--keep-old-hours', '0'];
    const { reported } = await copy.runWith(keys, ...atOnce);
    expect(secretsOf(await callbackOf())).toEqual([reported.get('callback_secret')]);
  });

  it('refuses a client without a callback', async () => {
    const { code, errors } = await copy.runWith(keys, 'roll-callback-secret', ...other);
    expect({ code, errors }).toEqual({ code: 1, errors: 'The client pms-other has no callback\n' });
  });
});

describe('remove-callback', () => {
  it('restores the file to its state before the callback', async () => {
    await aCallback();
    const { code } = await copy.runWith({}, 'remove-callback', ...other);
    expect([code, await copy.text()]).toEqual([0, copy.before]);
  });

  it('removes a callback that is the first member of its client', async () => {
    const callback = { url, secrets: [{ sealed: `a.${'A'.repeat(80)}` }] };
    const client = (members: object) => JSON.stringify({ ...members, clientId: 'pms' }, null, 2);
    const issuer = (clients: string) =>
      `{ "realms": [], "trustedIssuers": [{ "issuer": "https://i.example", "clients": [${clients}] }] }`;
    await writeFile(copy.path, issuer(client({ callback })));
    await copy.runWith({}, 'remove-callback', '--realm', 'https://i.example', '--client-id', 'pms');
    expect(await copy.text()).toBe(issuer(client({})));
  });
});

describe('reseal-callbacks', () => {
  it('seals every secret with the first key, so that the old key can be removed', async () => {
    await writeFile(copy.path, copy.before.replaceAll(/,\s+"callback": \{[^]*?\}\s+\]\s+\}/g, ''));
    const secret = await aCallback();
    const rolled = { SEALING_KEYS: `${key('b')},${key('a')}` };
    const { code, reported } = await copy.runWith(rolled, 'reseal-callbacks');
    expect([code, reported.get('resealed'), reported.get('sealed with the key')]).toEqual([0, '1', 'b']);
    expect(secretsOf(await callbackOf(), { SEALING_KEYS: key('b') })).toEqual([secret]);
    const again = await readFile(copy.path, 'utf8');
    expect((await copy.runWith(rolled, 'reseal-callbacks')).reported.get('resealed')).toBe('0');
    expect(await copy.text()).toBe(again);
  });

  it('changes nothing if a secret cannot be opened', async () => {
    await aCallback();
    const before = await copy.text();
    const { code, errors } = await copy.runWith({ SEALING_KEYS: key('b') }, 'reseal-callbacks');
    expect({ code, errors }).toEqual({
      code: 1,
      errors: 'The key that sealed this value is not configured\n',
    });
    expect(await copy.text()).toBe(before);
  });
});

describe('registry check', () => {
  it('reports a secret that the services cannot open', async () => {
    await aCallback({ SEALING_KEYS: key('b') });
    const { code, errors } = await copy.runWith(keys, 'check');
    expect({ code, errors }).toEqual({
      code: 1,
      errors: [
        [21, 0],
        [40, 1],
        [83, 4],
      ]
        .map(
          ([line, client]) =>
            `line ${line}, column 15: realms[0].clients[${client}].callback.secrets[0] cannot be opened with the keys of SEALING_KEYS_CALLBACK\n`,
        )
        .join(''),
    });
  });

  it('reports that production refuses http and the key of the demo', async () => {
    await copy.runWith(keys, 'set-callback', ...other, '--url', 'http://127.0.0.1:9000/');
    const { code, output } = await copy.runWith({}, 'check');
    expect(code).toBe(0);
    const ofCallbacks = output.split('\n').filter((line) => line.includes('.callback'));
    expect(ofCallbacks).toEqual([
      'production refuses it: realms[0].clients[0].callback.secrets[0] is sealed with the key of the demo',
      'production refuses it: realms[0].clients[1].callback.url must be https',
      'production refuses it: realms[0].clients[4].callback.secrets[0] is sealed with the key of the demo',
    ]);
  });

  it('warns that the developer portal of sandbox clients can read the callback secrets of others', async () => {
    const warning = /^warning: a developer portal with this registry can read .* of pms-demo\./m;
    expect((await copy.runWith({}, 'check')).output).toMatch(warning);
    await writeFile(copy.path, (await copy.text()).replaceAll('"sandbox": true', '"sandbox": false'));
    expect((await copy.runWith({}, 'check')).output).not.toContain('warning');
  });

  it('reports an invalid address that was edited by hand', async () => {
    await aCallback();
    await writeFile(copy.path, (await copy.text()).replace(url, 'http://pms.example/'));
    expect(await copy.runWith({}, 'check')).toMatchObject({
      code: 1,
      errors:
        'line 38, column 13: realms[0].clients[1].callback.url must be https; http is allowed only for this machine, outside production\n',
    });
  });
});
