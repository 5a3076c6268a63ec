import { tabTo } from '@clinical-launch/testing/chromium';
import { describe, expect, it } from '@jest/globals';
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { useDesk } from './desk.ts';
import { aLaunchContext, anOrder, aPatient, chipsIn, rowsOf, tickedIn } from './launches.ts';

const desk = useDesk();

/** Opens the page for choosing tests, for a patient with an earlier HbA1c. */
async function openPage(options: BrowserContextOptions = {}) {
  const context = aLaunchContext({ request: { patient: aPatient() } });
  await anOrder(desk.application, ['DHBA1C'], context);
  const launch = await desk.application.openLaunch(aLaunchContext({ request: context.request }));
  const complaints: string[] = [];
  const listen = (browser: BrowserContext) =>
    browser.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
  return { launch, complaints, ...(await desk.open(launch, { ...options, prepare: listen })) };
}

const box = (page: Page, code: string) => page.locator(`#test-${code}`);
const star = (page: Page, code: string) => page.locator(`li:has(#test-${code}) button`);

describe('the page with JavaScript', () => {
  it('keeps the focus on a button of the chosen tests when the server’s answer replaces it', async () => {
    const { page, close } = await openPage();
    await box(page, 'HFER').check();
    await page.locator('#chosen').getByText('Ferritin').first().waitFor();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/chosen', async (route) => {
      await released;
      await route.continue();
    });
    await box(page, 'HB12').check();
    await page.locator('#chosen').getByRole('button', { name: 'Review request' }).focus();
    release();
    await page.locator('#chosen').getByText('Vitamin B12').first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Submit request' }).waitFor();
    expect(await page.locator('main').innerText()).toContain('Vitamin B12');
    await close();
  });

  it('unticks, disables and announces the parts of an added panel until the panel is removed', async () => {
    const { page, complaints, close } = await openPage();
    await box(page, 'HFER').check();
    await page.locator('#chosen').getByText('Ferritin').first().waitFor();
    await box(page, 'HHAEM').check();
    await page.locator('#chosen [data-said]').waitFor();
    expect([await box(page, 'HFER').isChecked(), await box(page, 'HFER').isDisabled()]).toEqual([
      false,
      true,
    ]);
    expect(await page.locator('li:has(#test-HFER)').innerText()).toContain('Included in Haematinics profile');
    expect(await page.locator('#announcement').innerText()).toBe(
      'Ferritin removed: already in Haematinics profile. 1 test chosen',
    );
    await page.getByRole('button', { name: /Remove\s+Haematinics profile/ }).click();
    await page.locator('#chosen').getByText('Nothing chosen yet').waitFor();
    expect(await box(page, 'HFER').isDisabled()).toBe(false);
    expect(await page.locator('li:has(#test-HFER)').innerText()).not.toContain('Included');
    expect(complaints).toEqual([]);
    await close();
  });

  it('shows a warning of a repeat next to the chosen tests, and announces the warning once', async () => {
    const { page, close } = await openPage();
    await box(page, 'DHBA1C').check();
    await page.locator('#chosen .app-warning').waitFor();
    const announcement = page.locator('#announcement');
    expect(await announcement.innerText()).toMatch(/^HbA1c was requested on .* 1 test chosen$/);
    await box(page, 'HFBC').check();
    await page.locator('#bar-count', { hasText: '2 tests' }).waitFor({ state: 'attached' });
    expect(await announcement.innerText()).toBe('2 tests chosen');
    await close();
  });

  it('adds and removes a favourite without loading a new page, and keeps the ticked tests', async () => {
    const { launch, page, close } = await openPage();
    await box(page, 'HFBC').check();
    await star(page, 'CINR').click();
    await page.locator('[value="unfavourite:CINR"]').waitFor();
    expect(await box(page, 'HFBC').isChecked()).toBe(true);
    expect(chipsIn(await launch.page(), 'yours')).toEqual(['CINR']);
    const chip = page.locator('[data-chips="yours"] [data-chip="CINR"]');
    await chip.click();
    await page.locator('#chosen').getByText('International normalised ratio').first().waitFor();
    expect([await chip.getAttribute('aria-pressed'), await box(page, 'CINR').isChecked()]).toEqual([
      'true',
      true,
    ]);
    await star(page, 'CINR').click();
    await page.locator('[value="favourite:CINR"]').waitFor();
    expect(chipsIn(await launch.page(), 'yours')).toEqual([]);
    expect(await chip.count()).toBe(0);
    await close();
  });
});

describe('the search box, used by keyboard', () => {
  it('has the focus at first; Enter adds the tests that the query names, and empties the box', async () => {
    const { page, complaints, close } = await openPage();
    expect(await page.locator('#search').evaluate((input) => input.matches(':focus'))).toBe(true);
    await page.keyboard.type('fbc u&e');
    await page.keyboard.press('Enter');
    await page.keyboard.type('lft');
    await page.keyboard.press('Enter');
    await page.locator('#bar-count', { hasText: '3 tests' }).waitFor({ state: 'attached' });
    expect(await page.locator('#announcement').innerText()).toBe(
      'Liver function tests (LFT): chosen. 3 tests chosen',
    );
    expect(await page.locator('#search').inputValue()).toBe('');
    for (const code of ['HFBC', 'BUE', 'BLFT']) expect(await box(page, code).isChecked()).toBe(true);
    // The whole catalogue is shown after the tests have been added.
    await page.locator('#group-biochemistry li:has(#test-BUE)').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('shows what Enter will do, and which patients an unusual test is for', async () => {
    const { page, close } = await openPage();
    const said = async (query: string, text: string) => {
      await page.locator('#search').fill(query);
      await page.locator('#matches').getByText(text).waitFor();
    };
    await said('fbc u&e', 'Press Enter to add FBC and U&E.');
    await said('thyriod', 'Press Enter to go to the first of 3 matches.');
    await said('knee mri', 'Press Enter to go to the match.');
    await said('psa', 'Press Enter to add PSA. PSA: for men aged 18 or over.');
    await said('fbc qqq', 'No single test is called “qqq”. Press Enter to go to the match.');
    await said('qqq', 'No tests match “qqq”.');
    expect(await page.locator('#matches').innerText()).not.toContain('Enter');
    await close();
  });

  it('moves the focus to the first match that is not chosen if the query names no test; a second Enter adds that match', async () => {
    const { launch, page, close } = await openPage();
    await box(page, 'DGLUF').check();
    await page.locator('#bar-count', { hasText: '1 test' }).waitFor({ state: 'attached' });
    await page.locator('#search').focus();
    await page.keyboard.type('glucose');
    await page.keyboard.press('Enter');
    await page.locator('#test-DGLUR:focus').waitFor();
    expect(await page.locator('#announcement').innerText()).toBe(
      'Glucose, random (RPG). Press Enter to add it.',
    );
    // Releases the key first: a key that is held down does not count as a second press.
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await page.locator('#bar-count', { hasText: '2 tests' }).waitFor({ state: 'attached' });
    expect(tickedIn(await launch.page())).toEqual(['DGLUF', 'DGLUR']);
    expect(await page.locator('#search:focus').inputValue()).toBe('');
    await close();
  });

  it('adds a typed test on Ctrl+Enter, and stays once for text that names no test', async () => {
    const { launch, page, close } = await openPage();
    await page.keyboard.type('fbc');
    await page.keyboard.press('Enter');
    await page.locator('#bar-count', { hasText: '1 test' }).waitFor({ state: 'attached' });
    await page.keyboard.type('crpp');
    await page.keyboard.press('Control+Enter');
    await page
      .locator('main h1, .nhsuk-notification-banner')
      .getByText('“crpp” was not added')
      .first()
      .waitFor();
    expect(await page.locator('#search').inputValue()).toBe('crpp');
    await page.waitForLoadState();
    await page.locator('#search').fill('crp');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Added from the search box: C-reactive protein.').waitFor();
    expect(tickedIn(await launch.page())).toEqual(['HFBC', 'BCRP']);
    await close();
  });

  it('moves to an order set that a query names, and adds it only with another Enter', async () => {
    const { launch, page, close } = await openPage();
    await page.keyboard.type('tired');
    await page.keyboard.press('Enter');
    await page.locator('[data-set="Tired all the time"] button:focus').waitFor();
    expect(tickedIn(await launch.page())).toEqual([]);
    await page.keyboard.press('Enter');
    await page.locator('#chosen').getByText('Full blood count').first().waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('heading', { name: 'Review the request' }).waitFor();
    await close();
  });

  it('adds no match while Enter is held down', async () => {
    const { launch, page, close } = await openPage();
    await page.keyboard.type('bowel cancer');
    await page.keyboard.down('Enter');
    await page.locator('#test-KFIT:focus').waitFor();
    for (let repeats = 0; repeats < 5; repeats += 1) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    expect(tickedIn(await launch.page())).toEqual([]);
    expect(await page.locator('#test-KFIT:focus').isChecked()).toBe(false);
    await close();
  });

  it('keeps the focus in the search box if the user types before the matches arrive', async () => {
    const { page, close } = await openPage();
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    await page.route('**/matches', async (route) => {
      await answered;
      await route.continue();
    });
    await page.keyboard.type('bowel');
    await page.keyboard.press('Enter');
    await page.keyboard.type('ue');
    answer();
    await page.locator('#matches').getByText('match “ue”').waitFor();
    expect(await page.locator('#search:focus').inputValue()).toBe('ue');
    await close();
  });

  it.each([true, false])(
    'adds only tests that a query names, however fast the user types (connected to the server: %s)',
    async (isConnected) => {
      const { launch, page, close } = await openPage();
      if (!isConnected) await page.route('**/matches', (route) => route.abort());
      const queries = [
        'hpv',
        'ue',
        'cervical smear',
        'blood culture',
        'fbc',
        'ct',
        'x ray',
        'spine',
        'kidney',
      ];
      for (const query of [...queries, 'vanc', 'ferritni liver', 'lft', 'chest pain', 'psa qqq', 'crp esr']) {
        await page.keyboard.type(query);
        await page.keyboard.press('Enter');
      }
      await page.locator('#announcement').getByText('5 tests chosen').waitFor({ state: 'attached' });
      expect(tickedIn(await launch.page())).toEqual(['HFBC', 'HESR', 'BUE', 'BLFT', 'BCRP']);
      await close();
    },
  );

  it.each([
    ['Control+z', 0],
    ['the button Undo', 2],
  ])('undoes an addition that Enter made, by %s', async (way, maxStops) => {
    const { launch, page, close } = await openPage();
    await box(page, 'HFER').check();
    await page.locator('#bar-count', { hasText: '1 test' }).waitFor({ state: 'attached' });
    await page.locator('#search').focus();
    await page.keyboard.type('haematinics');
    await page.keyboard.press('Enter');
    await page.getByText('Added Haematinics profile.').waitFor();
    expect(tickedIn(await launch.page())).toEqual(['HHAEM']);
    const stops = maxStops === 0 ? 0 : await tabTo(page, page.locator('#added button'));
    expect(stops).toBeLessThanOrEqual(maxStops);
    await page.keyboard.press(maxStops === 0 ? way : 'Enter');
    await page.locator('#announcement').getByText('Undone.').waitFor({ state: 'attached' });
    expect(tickedIn(await launch.page())).toEqual(['HFER']);
    expect([await box(page, 'HFER').isChecked(), await box(page, 'HFER').isDisabled()]).toEqual([
      true,
      false,
    ]);
    expect(await page.getByText('Added Haematinics profile.').isVisible()).toBe(false);
    expect(await page.locator('#search:focus').count()).toBe(1);
    await close();
  });

  it('moves the focus through the matches with the arrow keys, and Enter chooses the focused match', async () => {
    const { page, close } = await openPage();
    await page.keyboard.type('glucose');
    await page.locator('#matches').getByText('match “glucose”').waitFor();
    const focused = () => page.locator(':focus').getAttribute('id');
    const visited: (string | null)[] = [];
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowDown']) {
      await page.keyboard.press(key);
      visited.push(await focused());
    }
    expect(visited).toEqual([
      'test-DGLUF',
      'test-DGLUR',
      'test-DGLUF',
      'search',
      'search',
      'test-DGLUF',
      'test-DGLUR',
    ]);
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('search');
    await page.locator('#chosen').getByText('Glucose, random').first().waitFor();
    expect(await box(page, 'DGLUF').isChecked()).toBe(false);
    await close();
  });
});

describe('a user with only a keyboard', () => {
  it('can choose a test, add it to favourites, save an order set, review and submit', async () => {
    const { launch, page, close } = await openPage();
    await tabTo(page, page.locator('#search'));
    await page.keyboard.type('inr');
    await page.locator('li:has(#test-HFBC)').waitFor({ state: 'hidden' });
    await tabTo(page, page.locator('#test-CINR'));
    await page.keyboard.press('Space');
    await page.locator('#chosen').getByText('International normalised ratio').first().waitFor();
    await tabTo(page, page.locator('li:has(#test-CINR) button'));
    await page.keyboard.press('Enter');
    await page.locator('[value="unfavourite:CINR"]').waitFor();
    await page.goto(page.url());
    await page.locator('#clear-search').press('Enter');
    await tabTo(page, page.locator('.app-own-sets summary'));
    await page.keyboard.press('Enter');
    await tabTo(page, page.locator('#set-name'));
    await page.keyboard.type('Warfarin');
    await page.keyboard.press('Enter');
    await page.getByText('“Warfarin” has been saved').waitFor();
    await tabTo(page, page.locator('#chosen').getByRole('button', { name: 'Review request' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Review the request' }).waitFor();
    await tabTo(page, page.locator('#answer-anticoagulant'));
    await page.keyboard.press('ArrowDown');
    expect(await page.getByLabel('Warfarin').isChecked()).toBe(true);
    await tabTo(page, page.locator('button[value="submit"]'));
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/orders\/[0-9a-f-]{36}$/);
    expect((await rowsOf(desk.application, launch))[0]?.answers).toMatchObject([{ answer: 'Warfarin' }]);
    await close();
  });

  it('can press Enter in a field of the review, which checks the form but neither submits the order nor removes a test', async () => {
    const { launch, page, close } = await openPage();
    await box(page, 'DHBA1C').check();
    await page.locator('#chosen .app-warning').waitFor();
    await page.locator('#chosen').getByRole('button', { name: 'Review request' }).click();
    await page.getByLabel('Another reason').press('Enter');
    await page.getByText('There is a problem').waitFor();
    expect(await rowsOf(desk.application, launch)).toEqual([]);
    await page.getByLabel('Another reason').fill('New symptoms');
    await page.getByRole('button', { name: 'Submit request' }).click();
    await page.waitForURL(/\/orders\/[0-9a-f-]{36}$/);
    await close();
  });
});

describe('the page without JavaScript', () => {
  it('supports favourites, order sets, the review, sample collection and submission', async () => {
    const { launch, page, close } = await openPage({ javaScriptEnabled: false });
    /** Clicks, and waits until the next page has its stylesheets, because they hide parts of the page. */
    const press = async (button: Locator) => {
      await button.click();
      await page.waitForLoadState();
    };
    await box(page, 'HFER').check();
    await box(page, 'HHAEM').check();
    await press(star(page, 'XCXR'));
    expect(await page.getByText('Ferritin removed: already in Haematinics profile').first().isVisible()).toBe(
      true,
    );
    expect([await box(page, 'HFER').isDisabled(), await box(page, 'HHAEM').isChecked()]).toEqual([
      true,
      true,
    ]);
    expect(await page.locator('[data-chip="XCXR"]').isVisible()).toBe(true);
    // Enter in a field presses the first button of its form, so the first button must not be a chip.
    await page.locator('#search').press('Enter');
    await page.waitForURL(/#search$/);
    expect(await page.locator('[data-chip="XCXR"]').getAttribute('aria-pressed')).toBe('false');
    await page.locator('.app-own-sets summary').click();
    await page.getByLabel('Save the chosen tests as an order set named').fill('Anaemia');
    await press(page.getByRole('button', { name: 'Save order set' }));
    expect(await page.getByText('“Anaemia” has been saved').isVisible()).toBe(true);
    await box(page, 'DHBA1C').check();
    await press(page.locator('#chosen').getByRole('button', { name: 'Review request' }));
    await press(page.getByRole('button', { name: 'Remove HbA1c' }));
    expect(await page.getByText('Requested recently').count()).toBe(0);
    expect(await page.getByLabel('Collected by').isVisible()).toBe(false);
    await page.getByLabel('Now: all samples have been collected').check();
    await page.getByLabel('Collected by').fill('Hill, Ada');
    await page.getByRole('button', { name: 'Submit request' }).click();
    await page.waitForURL(/\/orders\/[0-9a-f-]{36}$/);
    const [row] = await rowsOf(desk.application, launch);
    expect([row?.status, row?.batches[0]?.samples[0]?.collectedBy]).toEqual(['Complete', 'Hill, Ada']);
    await close();
  });
});
