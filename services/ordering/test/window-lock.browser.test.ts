import { describe, expect, it } from '@jest/globals';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { useDesk } from './desk.ts';
import { aLaunchContext, aPatient, chooseAndReview, type OpenLaunch, rowsOf, submit } from './launches.ts';

const desk = useDesk();

const { author } = aLaunchContext().request;
const second = { name: { family: 'Hughes', given: ['Siân'] }, birthDate: '1990-05-01' };

const launchFor = (patient = aPatient()) =>
  desk.application.openLaunch(aLaunchContext({ request: { patient, author } }));

/** Opens the review of a test for a first patient. */
async function openReview(options: BrowserContextOptions = {}) {
  const mine = await launchFor();
  await mine.send('', { method: 'HEAD' });
  await mine.post('chosen', [['action', 'add:HFBC']]);
  const opened = await desk.open(mine, { path: 'review', ...options });
  return { mine, ...opened };
}

/** Opens a launch in a further window of a browser. */
async function openInSameBrowser(browser: BrowserContext, launch: OpenLaunch): Promise<Page> {
  await browser.addCookies([{ ...launch.browserCookie, path: launch.home }]);
  const page = await browser.newPage();
  await page.goto(desk.application.url + launch.home);
  return page;
}

const lockOf = (page: Page) => page.getByRole('alertdialog', { name: 'Another patient has been opened' });
const workHere = (page: Page) => page.getByRole('button', { name: 'Work on this patient here' });
const isFocused = (page: Page, selector: string) =>
  page.locator(selector).evaluate((node) => node === node.ownerDocument.activeElement);

/** Notifies a page that it is visible again, as a browser does when the user returns to its tab. */
const returnTo = (page: Page) => page.dispatchEvent('body', 'visibilitychange', { bubbles: true });

describe('the windows of two patients in one browser', () => {
  it('lock each other: the window that was opened or chosen last locks the other, and Escape does not close the notice', async () => {
    const { mine, browser, page, close } = await openReview();
    await page.locator('#details').fill('Tired for three weeks');
    const other = await openInSameBrowser(browser, await launchFor(aPatient(second)));
    await lockOf(page).waitFor();
    expect(await isFocused(page, '#lock-title')).toBe(true);
    expect(await page.title()).toBe('Locked – Review the request – Online test requesting');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    expect(await lockOf(page).innerText()).toContain('HUGHES, Siân, born 1 May 1990');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await lockOf(page).waitFor({ state: 'hidden' });
    await lockOf(other).waitFor();
    expect(await page.locator('#details').inputValue()).toBe('Tired for three weeks');
    await page.locator('button[value="submit"]').click();
    await page.waitForURL(/\/orders\//);
    expect(await rowsOf(desk.application, mine)).toMatchObject([
      { clinical_details: 'Tired for three weeks' },
    ]);
    await close();
  });

  it('lock and unlock together if two of them show the same patient', async () => {
    const patient = aPatient();
    const [mine, again] = [await launchFor(patient), await launchFor(patient)];
    const { browser, page, close } = await desk.open(mine);
    const same = await openInSameBrowser(browser, again);
    expect(await lockOf(page).isVisible()).toBe(false);
    await openInSameBrowser(browser, await launchFor(aPatient(second)));
    for (const window of [page, same]) await lockOf(window).waitFor();
    await workHere(same).click();
    for (const window of [same, page]) await lockOf(window).waitFor({ state: 'hidden' });
    await close();
  });
});

describe('the notice of a locked window', () => {
  it('shows a long name and an NHS number in full in a narrow window', async () => {
    const long = { ...second, name: { family: 'Wolfeschlegelsteinhausenbergerdorff', given: ['Siân'] } };
    const { page, browser, close } = await openReview({ viewport: { width: 320, height: 700 } });
    await openInSameBrowser(browser, await launchFor(aPatient(long)));
    await lockOf(page).waitFor();
    expect(await lockOf(page).innerText()).toContain('WOLFESCHLEGELSTEINHAUSENBERGERDORFF');
    const overflow = await lockOf(page).evaluate((dialog) => dialog.scrollWidth - dialog.clientWidth);
    expect(overflow).toBe(0);
    const number = lockOf(page).getByText(/^\d{3} \d{3} \d{4}$/);
    expect(await number.evaluate((node) => node.getClientRects().length)).toBe(1);
    await close();
  });
});

describe('a page that can only be read', () => {
  it('shows one warning if another patient has been opened', async () => {
    const request = { patient: aPatient(), author, action: 'PatientReportList' } as const;
    const mine = await desk.application.openLaunch(aLaunchContext({ request }));
    const { page, browser, close } = await desk.open(mine);
    await openInSameBrowser(browser, await launchFor(aPatient(second)));
    const warning = page.locator('.app-other-patients');
    await warning.getByText('Another patient is open in another window.').waitFor();
    await page.reload();
    await warning.getByText('Another patient was opened in another window since.').waitFor();
    expect(await warning.count()).toBe(1);
    await close();
  });
});

describe('a window', () => {
  it('is locked when the user returns to it, although no other window sent a message', async () => {
    const { page, browser, close } = await openReview();
    const cookies = await browser.cookies();
    const other = await launchFor(aPatient(second));
    const { value } = cookies.find(({ name }) => name === '__Secure-browser') ?? {};
    await other.send('', { headers: { cookie: `${other.cookie}; __Secure-browser=${value}` } });
    expect(await lockOf(page).isVisible()).toBe(false);
    await returnTo(page);
    await lockOf(page).waitFor();
    await close();
  });

  it('stays locked while the connection is lost, and can be unlocked when the connection is back', async () => {
    const { page, browser, close } = await openReview();
    await openInSameBrowser(browser, await launchFor(aPatient(second)));
    await lockOf(page).waitFor();
    await browser.setOffline(true);
    await workHere(page).click();
    await lockOf(page).getByText('This window could not be unlocked.').waitFor();
    await returnTo(page);
    expect(await lockOf(page).isVisible()).toBe(true);
    await browser.setOffline(false);
    await workHere(page).click();
    await lockOf(page).waitFor({ state: 'hidden' });
    await close();
  });

  it('has a button that closes it after the submission, if a script opened it', async () => {
    const launch = await chooseAndReview(desk.application, ['HFBC']);
    const [path] = /orders.*$/.exec((await submit(launch)).headers.get('location') ?? '') ?? [];
    const { browser, page, close } = await desk.open(launch, { path: path ?? '' });
    const [opened] = await Promise.all([
      browser.waitForEvent('page'),
      page.evaluate('void window.open(location.href)'),
    ]);
    const closed = opened.waitForEvent('close');
    await opened.getByRole('button', { name: 'Close this window' }).click();
    await closed;
    expect(await page.getByRole('button', { name: 'Close this window' }).count()).toBe(0);
    await close();
  });

  it('without scripts asks which patient to work on when the review is submitted, and keeps the text', async () => {
    const { mine, browser, page, close } = await openReview({ javaScriptEnabled: false });
    await page.locator('#details').fill('Tired for three weeks');
    const other = await openInSameBrowser(browser, await launchFor(aPatient(second)));
    await page.locator('button[value="submit"]').click();
    await page.getByRole('heading', { name: 'Another patient has been opened' }).waitFor();
    expect(await rowsOf(desk.application, mine)).toEqual([]);
    await workHere(page).click();
    expect(await page.locator('#details').inputValue()).toBe('Tired for three weeks');
    await page.locator('button[value="submit"]').click();
    await page.waitForURL(/\/orders\//);
    await other.reload();
    await other.getByRole('heading', { name: 'Another patient has been opened' }).waitFor();
    await close();
  });
});
