import { startChromium } from '@clinical-launch/testing/chromium';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expectGoodPage } from './pictures.ts';
import { startPlatformForTest } from './running-platform.ts';

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let chromium: Browser;
let context: BrowserContext;
let page: Page;
const complaints: string[] = [];
beforeAll(async () => {
  [platform, chromium] = await Promise.all([startPlatformForTest(), startChromium()]);
  context = await chromium.newContext();
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page = await context.newPage();
});
afterAll(async () => {
  await chromium.close();
  await platform.stop();
});

it('the start of the demo opens a patient with one click, and shows the order when it comes back', async () => {
  await page.goto(platform.url);
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Open a patient' }).click();
  const oltr = await opened;
  await oltr.waitForURL(/\/oltr\/[0-9a-f-]{36}\/$/);
  await page.getByRole('link', { name: 'what was sent' }).click();
  await page.getByText('No order has come back').waitFor();
  await oltr.getByRole('checkbox', { name: /^Full blood count/ }).check();
  await oltr.getByRole('button', { name: 'Review request' }).click();
  await oltr.getByRole('button', { name: 'Submit request' }).click();
  for (const way of ['by callback', 'by the message to the page'])
    await page.getByText(`Order document, ${way}`, { exact: true }).waitFor();
  await page.getByRole('cell', { name: 'Full blood count (HFBC)' }).waitFor();
  expect(complaints).toEqual([]);
  await oltr.close();
});

it('what was sent is shown and sent again without a script', async () => {
  const plain = await chromium.newContext({ javaScriptEnabled: false });
  const visitor = await plain.newPage();
  await visitor.goto(platform.url);
  await visitor.getByRole('button', { name: 'Play a whole order' }).click();
  const attempts = [
    'Play it again: 410',
    'Wrong verifier: 401',
    'Same identifier: 409',
    'A client without the right: 403',
  ];
  for (const name of attempts) {
    await visitor.getByRole('button', { name }).click();
    const answer = visitor.getByRole('region', { name: new RegExp(`^${name} \\d: answer`) }).last();
    expect(await answer.innerText()).toContain(`HTTP/1.1 ${name.slice(-3)}`);
  }
  // The page with its answers, in a browser whose scripts can examine it.
  await context.addCookies(await plain.cookies());
  await page.goto(visitor.url());
  await page.locator('details').evaluateAll((folded: { open: boolean }[]) => {
    for (const one of folded) one.open = true;
  });
  await expectGoodPage(page, 'wire');
  await plain.close();
});
