import { startChromium } from '@clinical-launch/testing/chromium';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
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

it('the start of the demo opens a patient with one click', async () => {
  await page.goto(platform.url);
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Open a patient' }).click();
  const oltr = await opened;
  await oltr.waitForURL(/\/oltr\/[0-9a-f-]{36}\/$/);
  expect(complaints).toEqual([]);
  await oltr.close();
});
