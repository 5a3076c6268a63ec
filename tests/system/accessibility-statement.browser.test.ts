import { startChromium } from '@clinical-launch/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { expectGoodPage } from './pictures.ts';
import { startPlatformForTest } from './running-platform.ts';

const guid = '4f9f3b0e-0000-4000-8000-000000000000';
const pages = [
  '/oltr/',
  `/oltr/${guid}/`,
  `/orders/${guid}/document.xml`,
  '/audit/signed-out',
  '/idp/demo/desktop/oauth2/v2.0/authorize',
];

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let chromium: Browser;
beforeAll(async () => {
  const environment = { SUPPORT_LINE: 'Help desk <01632 960999>' };
  [platform, chromium] = await Promise.all([startPlatformForTest({ environment }), startChromium()]);
});
afterAll(async () => {
  await chromium.close();
  await platform.stop();
});

describe('the accessibility statement', () => {
  it.each(pages)('opens in a new tab from the footer of %s', async (path) => {
    const context = await chromium.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(platform.url + path);
    const link = page.getByRole('contentinfo').getByRole('link', { name: /^Accessibility statement/ });
    const [statement] = await Promise.all([context.waitForEvent('page'), link.click()]);
    await statement.getByRole('heading', { level: 1, name: 'Accessibility statement' }).waitFor();
    expect(statement.url()).toBe(`${platform.url}/accessibility`);
    expect(page.url()).toBe(platform.url + path);
    await context.close();
  });

  it('is accessible, names the support line, and does not link to itself', async () => {
    const page = await chromium.newPage();
    await page.goto(`${platform.url}/accessibility`);
    await page.getByText('Support: Help desk <01632 960999>').waitFor();
    expect(await page.title()).toBe('Accessibility statement – Online test requesting');
    await expectGoodPage(page, 'accessibility');
    expect(await page.getByRole('link', { name: /^Accessibility statement/ }).count()).toBe(0);
    await page.close();
  });
});
