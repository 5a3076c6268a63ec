import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Action } from '@clinical-launch/contracts/launch-context';
import { Browser } from '@clinical-launch/simulators/play/browser';
import { submissionOf } from '@clinical-launch/simulators/play/order-tests';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDemoPms, startPlatformForTest } from './running-platform.ts';

const ods = (code: string) => ({ system: 'ods-organization-code', code });
let folder: string;
let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'merged-practices-'));
  await writeRegistry('B82001');
  platform = await startPlatformForTest({ environment: { REGISTRY_FILE: join(folder, 'registry.json') } });
});
afterAll(async () => {
  await platform.stop();
  await rm(folder, { recursive: true });
});

/** Writes the demo's registry. The first client, the demo's practice system, is bound to one practice. */
async function writeRegistry(bound: string, practices?: object[]) {
  const demo = await readFile(new URL('../../sandbox/simulators/registry.json', import.meta.url), 'utf8');
  const text = demo.replace('"practices": "any"', `"practices": ${JSON.stringify([ods(bound)])}`);
  const path = join(folder, 'registry.json');
  await writeFile(`${path}.new`, JSON.stringify({ ...JSON.parse(text), practices }));
  await rename(`${path}.new`, path);
}

/** Opens a launch for the practice with an ODS code. */
async function open(code: string, action: Action = 'OrderTest') {
  const identifier = [{ system: 'https://fhir.nhs.uk/Id/ods-organization-code', value: code }];
  const { url } = await createDemoPms(platform.url).requestLaunch(
    aServiceRequest({ action, practice: { identifier } }),
  );
  const browser = new Browser();
  return { browser, page: await browser.open(url) };
}

describe('a practice system whose practice gets another code', () => {
  it('launches only under the new code, and finds and completes requests under the old code', async () => {
    const { browser, page } = await open('B82001');
    const reviewed = await browser.open(page.url, new URLSearchParams({ test: 'HFBC', action: 'review' }));
    const { html } = await browser.open(reviewed.url, submissionOf(reviewed));
    const [, guid = ''] = /src="\/orders\/([0-9a-f-]{36})\/notepad/.exec(html) ?? [];
    await expect(open('B82017')).rejects.toThrow('400');
    await writeRegistry('B82017', [{ ...ods('B82017'), formerly: [ods('B82001')] }]);
    await until(() => open('B82017').then(Boolean, () => false));
    await expect(open('B82001')).rejects.toThrow('400');

    const queue = await open('B82017', 'LocationSampleQueue');
    expect(queue.page.html).toContain(guid);
    const samples = await queue.browser.open(new URL(`requests/${guid}/samples`, queue.page.url).href);
    const fields = samples.html.matchAll(/<input[^>]* name="([^"]+)"[^>]* value="([^"]*)"/g);
    const form = new URLSearchParams({ action: 'record' });
    for (const [, name = '', value = ''] of fields) form.set(name, value);
    await queue.browser.open(samples.url, form);
    const { html: xml } = await queue.browser.open(`${platform.url}/orders/${guid}.xml`);
    expect(xml).toContain(`<guid>${guid}</guid>`);
    expect(xml).toContain('<Status>S</Status>');
  });
});
