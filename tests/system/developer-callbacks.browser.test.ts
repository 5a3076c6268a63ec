import { type Platform, startPlatform } from '@clinical-launch/platform/platform';
import { startChromium } from '@clinical-launch/testing/chromium';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { demoSecret } from '@clinical-launch/trust/production-registry';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { expectGoodPage } from './pictures.ts';

const { logger } = createRecordedLogger();
let platform: Platform;
let chromium: Browser;
beforeAll(async () => {
  const environment = { PORT: '0', HOST: '127.0.0.1' };
  const clock = { now: () => Date.now() };
  [platform, chromium] = await Promise.all([startPlatform({ environment, clock, logger }), startChromium()]);
});
afterAll(async () => {
  await chromium.close();
  await platform.stop();
});

const readJson = async (answer: Response): Promise<Readonly<Record<string, string>>> =>
  JSON.parse(await answer.text());

/** Opens the page of the callbacks for the developers of the sandbox client. */
async function openCallbacks({ javaScriptEnabled = true } = {}): Promise<Page> {
  const clientId = 'sandbox-pms';
  const token = await fetch(`${platform.publicUrl}/idp/demo/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: demoSecret(clientId),
      scope: 'api://clinical-launch/.default',
    }),
  });
  const headers = { Authorization: `Bearer ${(await readJson(token))['access_token'] ?? ''}` };
  const opened = await fetch(`${platform.publicUrl}/developers/session`, { method: 'POST', headers });
  const context = await chromium.newContext({ javaScriptEnabled });
  const page = await context.newPage();
  await page.goto((await readJson(opened))['url'] ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation').getByRole('link', { name: 'Callbacks' }).click();
  await page.getByRole('heading', { name: 'Callbacks', exact: true }).waitFor();
  return page;
}

const saveAddress = async (page: Page, address: string) => {
  await page.getByLabel('Address of your system').fill(address);
  await page.getByRole('button', { name: 'Save address' }).click();
};

it('the page of the callbacks saves an address and sends callbacks without scripts', async () => {
  const page = await openCallbacks({ javaScriptEnabled: false });
  // Nothing listens at this port of the test machine.
  await saveAddress(page, 'http://127.0.0.1:9/callbacks');
  await page.getByText('Your address receives your callbacks').waitFor();
  await page.getByRole('button', { name: 'Send a valid callback' }).click();
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('no answer').nth(1).waitFor();
  const row = page.getByRole('row', { name: 'Test: valid' });
  expect((await row.innerText()).match(/http:\/\/127\.0\.0\.1:9\/callbacks: no answer/g)).toHaveLength(2);
  await saveAddress(page, '');
  await page.getByText('Nothing receives your callbacks').waitFor();
});

it('the page of the callbacks is accessible with callbacks and with an error', async () => {
  const page = await openCallbacks();
  await page.getByRole('button', { name: 'Send one callback twice' }).click();
  await page.getByText('Test: sent twice').waitFor();
  await expectGoodPage(page, 'developer-callbacks');
  await saveAddress(page, 'ftp://pms.example');
  await page.getByRole('heading', { name: 'There is a problem' }).waitFor();
  expect(await page.title()).toMatch(/^Error: /);
  await expectGoodPage(page, 'developer-callbacks');
});
