import { readFileSync } from 'node:fs';
import { hashClientSecret } from '@clinical-launch/identity-provider/domain/client-secrets';
import { Browser, plainText } from '@clinical-launch/simulators/play/browser';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { root } from './run-command.ts';
import { startPlatformForTest } from './running-platform.ts';

/** A client and a partner that an operator has added to the demo registry. */
const addedClient = JSON.stringify({
  clientId: 'pms-added',
  name: 'Added practice system',
  secrets: [{ sha256: hashClientSecret('another secret') }],
  scopes: ['ocs-launch.write'],
  practices: 'any',
});
const addedPartner = JSON.stringify({
  clientId: 'partner-added',
  name: 'Added partner application',
  redirectUris: ['partneradded://auth'],
  launchUrl: 'partneradded://launch',
  scopes: ['openid', 'launch'],
});

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  platform = await startPlatformForTest({
    changeRegistry: (text) =>
      text.replace('"clients": [', `$&${addedClient},`).replace('"partners": [', `$&${addedPartner},`),
  });
});
afterAll(() => platform.stop());

const textOf = async (path: string) => plainText(await (await fetch(platform.url + path)).text());

describe('the start of the demo', () => {
  it('opens a patient with one form', async () => {
    const browser = new Browser();
    const { html } = await browser.open(platform.url);
    const [, form = '', button = ''] =
      /<form method="post" action="\/demo\/pms\/launches"([^]*?)(<button[^>]*>)Open a patient/.exec(html) ??
      [];
    const fields = new URLSearchParams();
    for (const [, name = '', value = ''] of (form + button).matchAll(/name="([^"]+)" value="([^"]*)"/g))
      fields.append(name, value);
    const opened = await browser.open(`${platform.url}/demo/pms/launches`, fields);
    expect([opened.status, opened.url]).toEqual([200, expect.stringMatching(/\/oltr\/[0-9a-f-]{36}\/$/)]);
    expect(opened.html).toContain('WHITFIELD, Margaret Anne');
  });

  it('leads only to addresses that answer', async () => {
    const { html } = await new Browser().open(platform.url);
    const paths = [...html.matchAll(/href="(\/[^"]*)"/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(15);
    for (const path of new Set(paths)) {
      const { status } = await new Browser().open(platform.url + plainText(path));
      expect([path, status]).toEqual([path, 200]);
    }
  });

  it('names the clients of the registry whose secrets everybody knows, and all partners', async () => {
    const text = await textOf('/');
    for (const one of [
      'pms-demo-secret',
      'host-demo-secret',
      'audit-demo-secret',
      'partner-native',
      'partner-added',
    ])
      expect(text).toContain(one);
    expect(text).not.toContain('pms-added');
  });

  it('has the figures of the README, which are those of the performance reference', async () => {
    const [text, readme, reference] = [
      await textOf('/'),
      readFileSync(`${root}README.md`, 'utf8'),
      readFileSync(`${root}docs/reference/performance.md`, 'utf8'),
    ];
    const [, url = '', launch = ''] =
      /RequestLaunchUrl \| (\d+ µs);[^]*?secureLaunch \| (\d+ µs);/.exec(reference) ?? [];
    expect(readme).toMatch(new RegExp(`A launch URL costs ${url} of CPU and a launch ${launch}`));
    expect(text).toMatch(new RegExp(`launch URL</dt><dd>${url}<[^]*launch</dt><dd>${launch}<`));
  });
});

describe('the host application of the demo', () => {
  it('lists every partner of the registry', async () => {
    const shown = [...(await textOf('/demo/host')).matchAll(/<option value="([^"]+)"/g)];
    expect(shown.map(([, clientId]) => clientId)).toEqual([
      'partner-added',
      'partner-demo',
      'partner-standard',
      'partner-native',
    ]);
  });
});
