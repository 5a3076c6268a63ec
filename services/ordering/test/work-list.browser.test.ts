import { beforeAll, describe, expect, it } from '@jest/globals';
import { readCatalogue } from '../src/catalogue-file.ts';
import { openOrderingDatabase } from '../src/store/database.ts';
import { useDesk } from './desk.ts';
import { openList } from './listing.ts';
import { inventRequests } from './stored/invented-requests.ts';
import { seedRequests } from './stored/seed.ts';

const desk = useDesk();
/** A practice with a fixed code, because the invented requests depend on the code. */
const practice = {
  identifier: { system: 'ods-organization-code', value: 'WORKLIST' },
  name: 'Harbour Surgery',
} as const;
beforeAll(async () => {
  const newest = new Date('2026-03-02T09:29:00Z');
  const invention = { practice, catalogue: readCatalogue(), newest, firstNumber: 1, count: 60 };
  await seedRequests(await openOrderingDatabase(desk.application.storage), inventRequests(invention));
});

/** Opens the list of the practice in a browser window. */
async function openWorkList({ width = 1280, height = 900, hasScript = true } = {}) {
  const launch = await openList(desk.application, 'LocationReportList', { request: { practice } });
  return desk.open(launch, {
    path: 'requests',
    viewport: { width, height },
    javaScriptEnabled: hasScript,
  });
}

describe('the list of a practice in a browser', () => {
  it('shows at least 15 requests below its filters on a screen of 1280 × 900', async () => {
    const { page, close } = await openWorkList();
    const rows = page.locator('.app-list tbody tr');
    expect(await rows.count()).toBe(25);
    const bottoms = await rows.evaluateAll((all: { getBoundingClientRect(): { bottom: number } }[]) =>
      all.map((row) => row.getBoundingClientRect().bottom),
    );
    expect(bottoms.filter((bottom) => bottom <= 900).length).toBeGreaterThanOrEqual(15);
    await close();
  });

  it('fits a window of 320 pixels, and has filters that work without scripts', async () => {
    const { page, close } = await openWorkList({ width: 320, height: 640, hasScript: false });
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBe(320);
    await page.getByLabel('Status').selectOption('Incomplete');
    await page.getByRole('button', { name: 'Apply filters' }).click();
    await page.getByText(/match(es)? the filters/).waitFor();
    const states = await page.locator('.app-list .nhsuk-tag').allTextContents();
    expect(new Set(states.filter((state) => state !== 'Urgent'))).toEqual(new Set(['Incomplete']));
    await close();
  });

  it.each([320, 390, 1280])('has space between its title and “Sign out” at %i pixels', async (width) => {
    const { page, close } = await openWorkList({ width, hasScript: false });
    const title = await page.locator('.nhsuk-header__service-name').boundingBox();
    const button = await page.getByRole('button', { name: 'Sign out' }).boundingBox();
    if (title === null || button === null) throw new Error('The header has no title or no button');
    expect(button.x - (title.x + title.width)).toBeGreaterThanOrEqual(16);
    await close();
  });

  it('is printed without filters, buttons and the addresses of links', async () => {
    const { page, close } = await openWorkList();
    const onScreenOnly = page
      .locator('.app-list__search, .app-sign-out, .nhsuk-pagination')
      .filter({ visible: true });
    expect(await onScreenOnly.count()).toBe(3);
    await page.emulateMedia({ media: 'print' });
    expect(await onScreenOnly.count()).toBe(0);
    const link = "document.querySelector('.app-list tbody a')";
    expect(await page.evaluate(`getComputedStyle(${link}, '::after').content`)).toBe('none');
    await close();
  });

  it('shows the names of tests that fit on a line, and all names when the user opens the line', async () => {
    const { page, close } = await openWorkList({ hasScript: false });
    const rows = page.locator('.app-list__names');
    /** Returns how many names of tests are visible in each row with many tests. */
    const inSight = () =>
      rows.evaluateAll((all: Line[]) =>
        all.map((line) => {
          const { bottom } = line.getBoundingClientRect();
          return [...line.children].filter((name) => name.getBoundingClientRect().top < bottom).length;
        }),
      );
    const wide = await inSight();
    await page.setViewportSize({ width: 800, height: 900 });
    const narrow = await inSight();
    expect(narrow.every((count) => count >= 1)).toBe(true);
    expect(wide.every((count, row) => count >= (narrow[row] ?? 0))).toBe(true);
    expect(wide).not.toEqual(narrow);
    await page.locator('.app-list__more summary').first().click();
    const [opened] = await inSight();
    expect(await rows.first().locator('> span').count()).toBe(opened);
    await close();
  });
});

type Box = { getBoundingClientRect(): { readonly top: number; readonly bottom: number } };
type Line = Box & { readonly children: Iterable<Box> };
