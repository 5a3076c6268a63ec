import { tabTo } from '@clinical-launch/testing/chromium';
import { until } from '@clinical-launch/testing/until';
import { describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { useDesk } from './desk.ts';
import {
  aLaunchContext,
  anOrder,
  aPatient,
  type OpenLaunch,
  offeredCodes,
  openForOrder,
  press,
  rowsOf,
} from './launches.ts';
import { samplesPage, threeSamples } from './sample-forms.ts';

const desk = useDesk();

/** Opens the page on which the user of a launch chooses tests. */
async function open(launch: OpenLaunch, { hasScript = true } = {}) {
  const viewport = { width: 1280, height: 720 };
  return { launch, ...(await desk.open(launch, { viewport, javaScriptEnabled: hasScript })) };
}

const newOrder = () => desk.application.openLaunch(aLaunchContext({ request: { patient: aPatient() } }));

/** Returns a keyboard that counts presses. A character with Shift and a key with Control are two presses. */
function countingKeyboard({ keyboard }: Page) {
  let presses = 0;
  return {
    presses: () => presses,
    async type(text: string) {
      presses += text.length + (text.match(/[A-Z&]/g) ?? []).length;
      await keyboard.type(text);
    },
    async press(keys: string) {
      presses += keys.split('+').length;
      await keyboard.press(keys);
    },
  };
}

const isSubmitted = (page: Page) => page.waitForURL(/\/orders\/[0-9a-f-]{36}$/);
const isReviewed = (page: Page) => page.waitForURL(/\/review$/);

/** Returns the names of the tests that a launch ordered. */
async function orderedTests(launch: OpenLaunch) {
  const [row] = await rowsOf(desk.application, launch);
  return row?.batches.flatMap(({ tests }) => tests.map(({ description }) => description));
}

const commonest = ['Full blood count', 'Urea and electrolytes'];

describe('an order of full blood count and U&E, the most common order', () => {
  it('needs at most 14 key presses', async () => {
    const { launch, page, close } = await open(await newOrder());
    const keyboard = countingKeyboard(page);
    await keyboard.type('fbc u&e');
    await keyboard.press('Enter');
    await keyboard.press('Control+Enter');
    await isReviewed(page);
    await keyboard.press('Control+Enter');
    await isSubmitted(page);
    expect(await orderedTests(launch)).toEqual(commonest);
    expect(keyboard.presses()).toBeLessThanOrEqual(14);
    await close();
  });

  it('needs 4 clicks if the tests are among the most requested tests, with and without scripts', async () => {
    for (const hasScript of [true, false]) {
      const { launch, page, close } = await open(await newOrder(), { hasScript });
      for (const code of ['HFBC', 'BUE']) {
        await page.locator(`#most [data-chip="${code}"]`).click();
        await page.locator(`#most [data-chip="${code}"][aria-pressed="true"]`).waitFor();
      }
      await page.locator('button[value="review"]:visible').first().click();
      await isReviewed(page);
      await page.getByRole('button', { name: 'Submit request' }).click();
      await isSubmitted(page);
      expect(await orderedTests(launch)).toEqual(commonest);
      await close();
    }
  });

  it('needs at most 4 clicks in the catalogue, with and without scripts', async () => {
    for (const hasScript of [true, false]) {
      const { launch, page, close } = await open(await newOrder(), { hasScript });
      let clicks = 0;
      const click = async (target: Locator) => {
        clicks += 1;
        await target.click();
      };
      await click(page.locator('label:has(#test-HFBC)'));
      await click(page.locator('label:has(#test-BUE)'));
      await click(page.locator('button[value="review"]:visible').first());
      await isReviewed(page);
      await click(page.getByRole('button', { name: 'Submit request' }));
      await isSubmitted(page);
      expect(await orderedTests(launch)).toEqual(commonest);
      expect(clicks).toBeLessThanOrEqual(4);
      await close();
    }
  });

  it.each([
    ['a search', '#search', 'fbc u&e', 2],
    ['an order set', 'button[value="add-set:tired-all-the-time"]', '', 11],
  ])('needs fewer than 40 presses of Tab from %s, without a shortcut', async (_by, begin, typed, tests) => {
    const { launch, page, close } = await open(await newOrder());
    let stops = await tabTo(page, page.locator(begin));
    await page.keyboard.type(typed);
    await page.keyboard.press('Enter');
    await page.locator('#bar-count', { hasText: `${tests} tests` }).waitFor({ state: 'attached' });
    stops += await tabTo(page, page.getByRole('link', { name: 'Go to the chosen tests' }));
    await page.keyboard.press('Enter');
    stops += await tabTo(page, page.locator('#chosen button[value="review"]'));
    await page.keyboard.press('Enter');
    await isReviewed(page);
    stops += await tabTo(page, page.getByRole('button', { name: 'Submit request' }));
    await page.keyboard.press('Enter');
    await isSubmitted(page);
    expect(await orderedTests(launch)).toHaveLength(tests);
    expect(stops).toBeLessThan(40);
    await close();
  });
});

describe('a chip at the top of the page', () => {
  it('leads to a submitted order with fewer than 40 presses of Tab and no keyboard shortcut', async () => {
    const launch = await newOrder();
    for (const code of ['HFBC', 'HESR', 'HFER']) await press(launch, `favourite:${code}`);
    const { page, close } = await open(launch);
    // The line of chips is one tab stop, immediately before the search box, which has the focus.
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.locator('#bar-count', { hasText: '1 test chosen' }).waitFor({ state: 'attached' });
    let stops = 1 + (await tabTo(page, page.getByRole('link', { name: 'Go to the chosen tests' })));
    await page.keyboard.press('Enter');
    stops += await tabTo(page, page.locator('#chosen button[value="review"]'));
    await page.keyboard.press('Enter');
    await isReviewed(page);
    stops += await tabTo(page, page.getByRole('button', { name: 'Submit request' }));
    await page.keyboard.press('Enter');
    await isSubmitted(page);
    expect(await orderedTests(launch)).toHaveLength(1);
    expect(stops).toBeLessThan(40);
    await close();
  });
});

/** Returns whether the whole element is visible in the window and not covered by another element. */
const isInSight = (element: Locator) =>
  element.evaluate((node) => {
    const { x, y, width, height } = node.getBoundingClientRect();
    const { documentElement } = node.ownerDocument;
    const top = node.ownerDocument.elementFromPoint(x + width / 2, y + height / 2);
    const isInside = y >= 0 && y + height <= documentElement.clientHeight;
    return isInside && x >= 0 && x + width <= documentElement.clientWidth && node.contains(top);
  });

describe('the page, without scrolling', () => {
  it('shows the most requested tests and the links to groups at 1280 × 720, below a full line of chips', async () => {
    const context = aLaunchContext({ request: { patient: aPatient() } });
    await anOrder(desk.application, ['HFBC', 'BUE', 'BLFT', 'HFER', 'SVITD'], context);
    desk.application.clock.advance({ seconds: 86_400 });
    const launch = await desk.application.openLaunch(aLaunchContext({ request: context.request }));
    for (const code of offeredCodes(desk.application.catalogue).slice(0, 12)) {
      await press(launch, `favourite:${code}`);
    }
    for (const hasScript of [true, false]) {
      const { page, close } = await open(launch, { hasScript });
      expect(await page.locator('#shortcuts [data-chip]').count()).toBe(12);
      expect(await page.getByText('Same as last time').count()).toBe(1);
      const first = page.locator('.app-groups a').first();
      expect(await page.evaluate('scrollY')).toBe(0);
      for (const each of [...(await page.locator('#most [data-chip]').all()), first]) {
        expect(await isInSight(each)).toBe(true);
      }
      await close();
    }
  });

  it.each([true, false])(
    'shows the button of the next step at every width, and is never wider than the window (scripts: %s)',
    async (hasScript) => {
      const ordering = await newOrder();
      const { page, close } = await open(ordering, { hasScript });
      const check = async (step: string) => {
        for (const width of [320, 390, 640, 768, 992, 1280, 1920]) {
          await page.setViewportSize({ width, height: 720 });
          const contentWidth = Number(await page.evaluate('document.documentElement.scrollWidth'));
          expect([step, contentWidth]).toEqual([step, width]);
          for (const place of ['start', 'middle', 'end']) {
            await page.evaluate(`scrollTo(0, ${place === 'end' ? 1_000_000 : 0})`);
            if (place === 'middle') await page.mouse.wheel(0, 500);
            const button = page.locator(`button[value="${step}"]:not(.nhsuk-u-visually-hidden)`);
            const isThere = async () =>
              (await Promise.all((await button.all()).map(isInSight))).includes(true);
            // The browser calls the intersection observer of the bar with the next frame.
            await until(isThere, () => `${step} is in sight at ${width}, ${place}`);
          }
        }
      };
      await check('review');
      await page.locator('button[value="add-set:tired-all-the-time"]').click();
      await page.locator('#chosen').getByText('Thyroid function tests').first().waitFor();
      await check('review');
      await page.locator('button[value="review"]:visible').first().click();
      await isReviewed(page);
      await check('submit');
      const collecting = await openForOrder(desk.application, 'PatientSampleQueue', threeSamples);
      await page.context().addCookies([collecting.browserCookie]);
      await page.goto(`${desk.application.url}${collecting.home}${samplesPage(collecting)}`);
      await check('record');
      await close();
    },
  );
});

describe.each([true, false])('the page on a telephone (scripts: %s)', (hasScript) => {
  /** Returns the number of lines that the visible elements occupy. */
  async function linesOf(elements: Locator): Promise<number> {
    const boxes = await Promise.all((await elements.all()).map((element) => element.boundingBox()));
    const ends = boxes.filter((box) => box !== null).map(({ y, height }) => Math.round((y + height) / 8));
    return new Set(ends).size;
  }

  it('shows closed groups, the patient on one line, and the buttons of the next steps on one line', async () => {
    const { launch, page, close } = await open(await newOrder(), { hasScript });
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await linesOf(page.locator('.app-patient .app-facts__item'))).toBe(1);
    const box = page.getByRole('checkbox', { name: /^Full blood count/ });
    expect(await box.count()).toBe(0);
    await page.getByRole('link', { name: /tests of Haematology$/ }).click();
    await box.check();
    await page.goto(desk.application.url + launch.home);
    await page.locator('#search').fill('knee');
    await page.keyboard.press('Enter');
    await page.getByRole('checkbox', { name: /^Knee X-ray/ }).check();
    // The bar repeats the button below the chosen tests, and is hidden while that button is visible.
    await page.locator('button[value="review"]:visible').first().click();
    await isReviewed(page);
    // While answers are missing, a link to the first of them replaces the buttons that submit.
    expect(await page.locator('.app-next .nhsuk-button:visible').count()).toBe(hasScript ? 2 : 3);
    expect(await linesOf(page.locator('.app-next .nhsuk-button'))).toBe(1);
    await page.getByRole('link', { name: 'More about the patient and the request' }).click();
    expect(await page.getByText('Requested by').first().isVisible()).toBe(true);
    await close();
  });
});
