import { startChromium } from '@clinical-launch/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { expectAccessible, expectNoSidewaysScrolling } from './accessibility.ts';

let chromium: Browser;
beforeAll(async () => {
  chromium = await startChromium();
});
// Each of these long pages takes 70 MB.
afterEach(async () => void (await Promise.all(chromium.contexts().map((context) => context.close()))));
afterAll(() => chromium.close());

const pages = ['decisions', 'conformance'];
const addressOf = (name: string) => new URL(`../../../docs/${name}.html`, import.meta.url).href;

/** Opens a page as a file, and collects what the browser complains about. */
async function open(name: string, options: Parameters<Browser['newPage']>[0] = {}) {
  const page = await chromium.newPage(options);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  await page.goto(addressOf(name));
  return { page, rows: page.locator('tr[data-package]'), status: page.getByRole('status'), complaints };
}

describe.each(pages)('the page of the %s', (name) => {
  it('shows the rows that have every word, and counts them', async () => {
    const { page, rows, status, complaints } = await open(name);
    const all = await rows.count();
    expect(all).toBeGreaterThan(200);
    expect(await status.textContent()).toBe(`${all} rows`);
    await page.getByRole('searchbox', { name: 'Words' }).fill('VERIFIER hash');
    const matches = await rows.filter({ visible: true }).allTextContents();
    expect(matches.length).toBeGreaterThan(0);
    expect(matches.filter((text) => !/verifier/i.test(text) || !/hash/i.test(text))).toEqual([]);
    expect(await status.textContent()).toBe(`${matches.length} of ${all} rows`);
    expect(complaints).toEqual([]);
  });

  it('shows the rows of a section and of a package, and all of them again', async () => {
    const { page, rows, status } = await open(name);
    const all = await rows.count();
    const shown = rows.filter({ visible: true });
    await page.getByRole('combobox', { name: 'Package' }).selectOption('services/launch-gateway');
    const ofPackage = await shown.count();
    expect(ofPackage).toBe(await page.locator('tr[data-package="services/launch-gateway"]').count());
    const sections = page.getByRole('combobox', { name: 'Section' });
    await sections.selectOption({ label: name === 'decisions' ? 'Launching' : 'OLTR: Launch token' });
    expect(await shown.count()).toBeLessThanOrEqual(ofPackage);
    expect(await shown.count()).toBeGreaterThan(0);
    expect(await page.locator('tbody').filter({ visible: true }).count()).toBe(1);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText(`${all} rows`, { exact: true }).waitFor();
    expect(await status.textContent()).toBe(`${all} rows`);
  });

  it('has its filter in its address', async () => {
    const { page, rows } = await open(name);
    await page.getByRole('searchbox', { name: 'Words' }).fill('replay');
    const found = await rows.filter({ visible: true }).count();
    const again = await chromium.newPage();
    await again.goto(page.url());
    expect(await again.getByRole('searchbox', { name: 'Words' }).inputValue()).toBe('replay');
    expect(await again.locator('tr[data-package]').filter({ visible: true }).count()).toBe(found);
  });

  it.each([1280, 390])('fits a window of %i pixels, and axe finds no fault in it', async (width) => {
    const { page } = await open(name, { viewport: { width, height: 900 } });
    await expectNoSidewaysScrolling(page);
    await page.getByRole('searchbox', { name: 'Words' }).fill('verifier');
    await page
      .getByText(/^\d+ tests?$/)
      .filter({ visible: true })
      .first()
      .click();
    await expectAccessible(page);
    await expectNoSidewaysScrolling(page);
  });

  it('is the whole table without a script', async () => {
    const { page, rows } = await open(name, { javaScriptEnabled: false });
    expect(await rows.filter({ visible: true }).count()).toBe(await rows.count());
    expect(await page.getByRole('search').count()).toBe(0);
  });
});
