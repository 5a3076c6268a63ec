import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expectAccessible, expectNoSidewaysScrolling } from './accessibility.ts';

const folder = fileURLToPath(new URL('../../docs/pages/', import.meta.url));

/** The window widths at which pages are checked, in CSS pixels. */
const widths = [1280, 390];

/** The maximum height of a picture. For long pages, such as the catalogue, the top is enough. */
const maxHeight = 1800;

/**
 * Expects at each width that axe finds no violations and that the page is not wider than the window. With
 * `PICTURES=docs` in the environment, also updates the page's picture in docs/pages.
 */
export async function expectGoodPage(page: Page, name: string): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await expectAccessible(page);
    await expectNoSidewaysScrolling(page);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  const picture = `${folder}${name}.png`;
  if (process.env.PICTURES === 'docs' && existsSync(picture)) await takePicture(page, picture);
}

async function takePicture(page: Page, path: string): Promise<void> {
  const box = await page.locator('body').boundingBox();
  const height = Math.min(maxHeight, Math.ceil(box?.height ?? maxHeight));
  await page.setViewportSize({ width: 1280, height: Math.max(height, 600) });
  await page.evaluate('scrollTo(0, 0)');
  await page.screenshot({ path, animations: 'disabled' });
  await page.setViewportSize({ width: 1280, height: 900 });
}
