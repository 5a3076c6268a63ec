import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { useDesk } from './desk.ts';
import { aLaunchContext, anOrder, aPatient, aYoungPatient, rowsOf } from './launches.ts';

const desk = useDesk();

async function openPage(patient = aPatient()) {
  const launch = await desk.application.openLaunch(aLaunchContext({ request: { patient } }));
  return { launch, ...(await desk.open(launch)) };
}

const reviewOrder = (page: Page) => page.locator('#chosen button[value="review"]').click();
/** Submits by keyboard, because the buttons are hidden while answers are missing. */
const submitOrder = async (page: Page) => {
  await page.locator('[data-once]').waitFor({ state: 'attached' });
  await page.waitForLoadState();
  await page.keyboard.press('Control+Enter');
};
const isSubmitted = (page: Page) => page.waitForURL(/\/orders\/[0-9a-f-]{36}$/);

describe('sex and age', () => {
  it('hide a test for the other sex until a search names it, and require a reason after a warning', async () => {
    const { launch, page, close } = await openPage(aPatient({ gender: 'male' }));
    const swab = page.locator('li:has(#test-VHVS)');
    expect(await swab.isVisible()).toBe(false);
    await page.locator('#search').fill('vaginal');
    await page.getByText('No tests to choose for “vaginal”').waitFor();
    await page.locator('#search').fill('hvs');
    await swab.waitFor();
    await page.locator('#test-VHVS').check();
    await page.locator('#chosen').getByText('usually for female patients').waitFor();
    await reviewOrder(page);
    await submitOrder(page);
    const fault = page.getByRole('link', { name: 'Give a reason for requesting High vaginal swab culture' });
    await fault.waitFor();
    // The error summary receives the focus when the page's script runs.
    await page.waitForLoadState();
    await fault.click();
    await page.keyboard.type('Trans man');
    await submitOrder(page);
    await isSubmitted(page);
    const [row] = await rowsOf(desk.application, launch);
    expect(row?.batches[0]?.tests[0]?.overrideReason).toBe('Trans man');
    await close();
  });

  it('require a last menstrual period within 45 weeks, or “Not known”, from a woman of 30', async () => {
    const { page, close } = await openPage(aYoungPatient());
    await page.locator('#test-EPROG').check();
    await page.locator('#chosen').getByText('Progesterone').first().waitFor();
    await reviewOrder(page);
    const field = (part: string) => page.locator(`#answer-last-menstrual-period-${part}`);
    await field('day').fill('1');
    await field('month').fill('1');
    await field('year').fill('1900');
    await submitOrder(page);
    await page.getByText('There is a problem').waitFor();
    expect(await page.locator('main').innerText()).toContain('must be within the last 45 weeks');
    for (const part of ['day', 'month', 'year']) await field(part).fill('');
    await page.locator('#missing').waitFor();
    await page.getByRole('group', { name: 'last menstrual period' }).getByLabel('Not known').check();
    await page.locator('#missing').waitFor({ state: 'hidden' });
    await submitOrder(page);
    await isSubmitted(page);
    await close();
  });
});

describe('samples', () => {
  it('from two sites are two swabs; the review asks for a missing site, and the result page shows the answer', async () => {
    const { launch, page, close } = await openPage();
    await page.locator('#test-VHSV').check();
    await page.locator('#test-VRESP').check();
    await page.locator('#chosen').getByText('Viral swab, green top, site not stated yet').waitFor();
    await page.locator('#chosen').getByText('Viral swab, green top, Nose and throat').waitFor();
    await reviewOrder(page);
    await submitOrder(page);
    await page.getByRole('link', { name: 'Where is the swab from? (Herpes simplex PCR)' }).click();
    await page.getByLabel('Genital').check();
    await submitOrder(page);
    await isSubmitted(page);
    expect(await page.locator('main').innerText()).toContain('Viral swab (green top), Genital');
    const [row] = await rowsOf(desk.application, launch);
    expect(row?.batches[0]?.samples).toHaveLength(2);
    await close();
  });

  it('of a glucose tolerance test are timed tubes, which cannot be collected at the same time', async () => {
    const { page, close } = await openPage();
    await page.locator('#test-DGTT').check();
    await page.locator('#chosen').getByText('2 hours after glucose').waitFor();
    await reviewOrder(page);
    await page.locator('#answer-fasting').check();
    await page.locator('input[name="collect"][value="now"]').check();
    await submitOrder(page);
    await page.getByRole('link', { name: 'collected at different times' }).waitFor();
    await page.locator('input[name="collect"][value="later"]').check();
    await submitOrder(page);
    await isSubmitted(page);
    expect(await page.locator('.app-draws li').count()).toBe(2);
    await close();
  });
});

describe('imaging', () => {
  it('requires a side, an answer about pregnancy and clinical details for a knee, and shows the telephone number', async () => {
    const { launch, page, close } = await openPage(aYoungPatient());
    expect(await page.locator('.app-context').innerText()).toContain('01947 555 0142 (home)');
    await page.locator('#test-XKNE').check();
    await page.locator('#chosen').getByText('Knee X-ray').first().waitFor();
    await reviewOrder(page);
    // The questions and their reasons are visible without scrolling.
    await page.setViewportSize({ width: 1280, height: 800 });
    const missing = page.getByRole('link', { name: '3 answers needed' });
    const tests = page.locator('.app-reviewed__tests').getByText('Knee X-ray');
    for (const part of [missing, tests, page.locator('#answer-side-XKNE')]) {
      const box = await part.boundingBox();
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(800);
    }
    await missing.click();
    expect(await page.locator('#answer-side-XKNE').evaluate((node) => node.matches(':focus'))).toBe(true);
    await submitOrder(page);
    await page.getByText('There is a problem').waitFor();
    expect(await page.locator('.nhsuk-error-summary__list li').allInnerTexts()).toEqual([
      'Select an answer to “Which side? (Knee X-ray)”',
      'Select an answer to “Is the patient pregnant, or might the patient be?”',
      'Enter clinical details. Knee X-ray cannot be done without them',
    ]);
    await page.getByRole('group', { name: 'Which side?' }).getByLabel('Right').check();
    const pregnancy = page.getByRole('group', { name: 'pregnant' });
    const advice = page.getByText('Knee X-ray uses ionising radiation. Telephone Seaview Imaging Centre');
    expect(await advice.isVisible()).toBe(false);
    await pregnancy.getByLabel('Not known').check();
    await advice.waitFor();
    await pregnancy.getByLabel('No', { exact: true }).check();
    await advice.waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: '1 answer needed' }).click();
    await page.keyboard.type('Locking after a fall');
    await page.locator('#missing').waitFor({ state: 'hidden' });
    await submitOrder(page);
    await isSubmitted(page);
    const [row] = await rowsOf(desk.application, launch);
    expect(row?.answers.map(({ answer }) => answer)).toEqual(['Right', 'No']);
    await close();
  });
});

describe('an urgent request, whose priority is not sent electronically', () => {
  it('shows its urgency and the laboratory’s telephone number on the result page, where the link to the form comes first', async () => {
    const { page, close } = await openPage();
    await page.locator('#test-KMSU').check();
    await page.locator('#chosen').getByText('Urine culture').first().waitFor();
    await reviewOrder(page);
    expect(await page.locator('#details-hint').innerText()).toBe(
      'Printed on the request form; not sent electronically',
    );
    const advice = page.getByText('Telephone Westcliff Microbiology on 01632 960202.');
    expect(await advice.isVisible()).toBe(false);
    await page.getByLabel('Urgent').check();
    await advice.waitFor();
    await submitOrder(page);
    await isSubmitted(page);
    expect(await page.locator('.nhsuk-panel').innerText()).toContain('Urgent');
    expect(await page.locator('main').innerText()).toContain('01632 960202');
    const first = page.locator('main a').first();
    expect(await first.innerText()).toBe('Print request form');
    await first.click();
    await page.getByRole('heading', { name: 'Request form' }).waitFor();
    expect(await page.locator('.app-form__urgent').textContent()).toBe('Urgent');
    await close();
  });
});

describe('duplicates', () => {
  it('of a test in an open request are shown, and one click uses that request', async () => {
    const patient = aPatient();
    await anOrder(desk.application, ['HFBC', 'BUE'], aLaunchContext({ request: { patient } }));
    const { page, close } = await openPage(patient);
    for (const code of ['HFBC', 'BUE', 'BCRP']) await page.locator(`#test-${code}`).check();
    await page.locator('#chosen').getByText('sample not').first().waitFor();
    await page
      .locator('#chosen')
      .getByRole('button', { name: /Use request NCP-\d+/ })
      .click();
    await page.locator('#bar-count', { hasText: '1 test chosen' }).waitFor({ state: 'attached' });
    expect(await page.locator('#chosen').innerText()).toMatch(
      /Full blood count and .* already in request NCP-/,
    );
    expect(await page.locator('#test-HFBC').isChecked()).toBe(false);
    await close();
  });

  it('within their minimum intervals can share one reason from the list', async () => {
    const patient = aPatient();
    await anOrder(desk.application, ['DHBA1C', 'BVITD'], aLaunchContext({ request: { patient } }));
    const { launch, page, close } = await openPage(patient);
    for (const code of ['DHBA1C', 'BVITD']) await page.locator(`#test-${code}`).check();
    await page.locator('#bar-count', { hasText: '2 tests chosen' }).waitFor({ state: 'attached' });
    await reviewOrder(page);
    await page.getByLabel('Sample lost or unsuitable').check();
    await submitOrder(page);
    await isSubmitted(page);
    const [row] = await rowsOf(desk.application, launch);
    expect(row?.batches[0]?.tests.map(({ repeatReason }) => repeatReason)).toEqual([
      'Sample lost or unsuitable',
      'Sample lost or unsuitable',
    ]);
    await close();
  });
});

describe('the patient', () => {
  /** 105 characters. */
  const name = {
    prefix: ['Professor'],
    given: ['Gwenllian Angharad Bronwen', 'Elizabeth-Margaretha'],
    family: 'Featherstonehaugh-Cholmondeley-Wriothesley',
  };

  it.each([
    [390, 844, 1],
    [640, 400, 0.25],
    [320, 256, 0.25],
    [1280, 800, 1],
  ])('stays on the screen of %i by %i, above the focused element', async (width, height, share) => {
    const { page, close } = await openPage(aPatient({ name }));
    await page.setViewportSize({ width, height });
    await page.reload();
    await page.locator('[autofocus]:not(:focus)').waitFor({ state: 'detached' });
    const banner = page.locator('.app-patient');
    const seen = async () => {
      const [box, text] = [await banner.boundingBox(), await banner.innerText()];
      const isShown = box !== null && box.y >= 0 && box.y + box.height <= height;
      expect([width, isShown, (box?.height ?? height) <= share * height]).toEqual([width, true, true]);
      for (const part of [...name.given, 'FEATHERSTONEHAUGH', '1958'])
        expect(text.toLowerCase()).toContain(part.toLowerCase());
      return (box?.y ?? 0) + (box?.height ?? 0);
    };
    await seen();
    for (let stop = 0; stop < 12; stop += 1) {
      await page.keyboard.press(stop < 6 ? 'Tab' : 'Shift+Tab');
      const bottom = await seen();
      const focused = page.locator(':focus');
      const isOfHeader = (await page.locator('header :focus, .app-patient :focus').count()) > 0;
      const box = isOfHeader || (await focused.count()) === 0 ? null : await focused.boundingBox();
      const isCovered = box !== null && box.y + Math.min(box.height, 24) <= bottom;
      expect([width, stop, isCovered]).toEqual([width, stop, false]);
    }
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await seen();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await close();
  });
});
