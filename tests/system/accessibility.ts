import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Follows a link, and resolves when the new page has loaded. */
export async function follow(page: Page, name: string | RegExp): Promise<void> {
  const link = page.getByRole('link', { name });
  const target = new URL((await link.getAttribute('href')) ?? '', page.url()).href;
  await Promise.all([page.waitForURL(target), link.click()]);
}

/** Expects that axe finds no violations in the current state of the page. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  const violations = await page.evaluate(async () => {
    type Results = { violations: { id: string; nodes: { html: string }[] }[] };
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<Results> } };
    // Reports only violations, because describing the passed rules took a quarter of the time.
    const results = await axe.run({ resultTypes: ['violations'] });
    return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
  });
  expect(violations).toEqual([]);
}

/** Expects that the page is not wider than the window. */
export async function expectNoSidewaysScrolling(page: Page): Promise<void> {
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { document } = globalThis as unknown as {
      document: { documentElement: { scrollWidth: number; clientWidth: number } };
    };
    const { scrollWidth: content, clientWidth: window } = document.documentElement;
    return { scrollWidth: content, clientWidth: window };
  });
  expect(scrollWidth).toBe(clientWidth);
}
