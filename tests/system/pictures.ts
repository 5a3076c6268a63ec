import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expectAccessible, expectNoSidewaysScrolling } from './accessibility.ts';

const folder = fileURLToPath(new URL('../../docs/pages/', import.meta.url));

/** The widths that a page must look right at, in CSS pixels. */
const widths = [1280, 390];

/** The maximum height of a picture of a long page: the top of the catalogue shows enough. */
const maxHeight = 1800;

/**
 * Expects of a page, at each width, that axe finds nothing and that nothing is beyond the right edge. With
 * `PICTURES=docs` in the environment, also takes its picture again if docs/pages has one.
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
