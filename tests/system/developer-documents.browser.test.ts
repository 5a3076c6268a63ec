import { startChromium } from '@clinical-launch/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { expectNoSidewaysScrolling } from './accessibility.ts';
import { expectGoodPage } from './pictures.ts';
import { startPlatformForTest } from './running-platform.ts';

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let chromium: Browser;
beforeAll(async () => {
  [platform, chromium] = await Promise.all([startPlatformForTest(), startChromium()]);
});
afterAll(async () => {
  await chromium.close();
  await platform.stop();
});

/** Opens a document, and expands its collapsed parts. */
async function open(path: string): Promise<Page> {
  const page = await chromium.newPage();
  await page.goto(`${platform.url}/developers/${path}`);
  await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
  return page;
}

describe('a document of the developer portal', () => {
  it.each(['guides/pms', 'reference/launch-api', 'reference/errors'])(
    'is accessible, and fits the width of a telephone: %s',
    async (path) => {
      const page = await open(path);
      await expectGoodPage(page, 'developer-document');
      await page.close();
    },
  );

  // Does not run axe, which needs a minute for each of these long pages. They consist of the same parts as
  // the pages above.
  it.each(['guides/operate', 'reference/identity-provider', 'reference/resource-api', 'reference/events'])(
    'fits the width of a telephone: %s',
    async (path) => {
      const page = await open(path);
      await page.setViewportSize({ width: 390, height: 900 });
      await expectNoSidewaysScrolling(page);
      await page.close();
    },
  );

  it('links from a guide to the cause of an error, without scripts', async () => {
    const page = await (await chromium.newContext({ javaScriptEnabled: false })).newPage();
    await page.goto(`${platform.url}/developers/guides/pms`);
    await page
      .getByRole('navigation', { name: 'Documents' })
      .getByRole('link', { name: 'Launch API' })
      .click();
    await page
      .getByRole('navigation', { name: 'Contents' })
      .getByRole('link', { name: /^Check a request/ })
      .click();
    const refused = page.getByRole('row', { name: /insufficient_scope/ }).nth(1);
    await refused.getByRole('link', { name: 'insufficient_scope' }).click();
    await page.waitForURL(`${platform.url}/developers/reference/errors#insufficient_scope`);
    expect(await page.locator('#insufficient_scope').innerText()).toContain('insufficient_scope');
    await page.getByText('Ask the operator for the right').waitFor();
  });
});
