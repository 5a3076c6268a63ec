import { startChromium } from '@clinical-launch/testing/chromium';
import { startFirefox } from '@clinical-launch/testing/firefox';
import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expectAccessible } from './accessibility.ts';
import { expectGoodPage } from './pictures.ts';
import { createDemoPms, startPlatformForTest } from './running-platform.ts';

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  platform = await startPlatformForTest();
});
afterAll(() => platform.stop());

type Patient = { readonly family: string; readonly number: string };

const whitfield: Patient = { family: 'Whitfield', number: '9434765919' };
const hughes: Patient = { family: 'Hughes', number: '9449306206' };

/** Opens a launch for a patient in a new window. Resolves when the page can be used. */
async function launch(browser: BrowserContext, { family, number }: Patient) {
  const patient = {
    identifier: [{ system: 'https://fhir.nhs.uk/Id/nhs-number', value: number }],
    name: [{ use: 'usual', family, given: ['Anne'] }],
  };
  const { url } = await createDemoPms(platform.url).requestLaunch(aServiceRequest({ patient }));
  const page = await browser.newPage();
  await page.goto(url);
  await page.waitForURL(/\/oltr\/[0-9a-f-]{36}\/$/);
  await page.getByRole('heading', { name: 'Choose tests' }).waitFor();
  return page;
}

const lockOf = (page: Page) => page.getByRole('alertdialog', { name: 'Another patient has been opened' });
const workHere = (page: Page) => page.getByRole('button', { name: 'Work on this patient here' });

async function openReview(browser: BrowserContext, patient = whitfield) {
  const page = await launch(browser, patient);
  await page.locator('#test-HFBC').check();
  await page.locator('#chosen button[value="review"]').click();
  await page.locator('#details').waitFor();
  return page;
}

describe.each([
  { name: 'Chromium', start: startChromium, lookAtDialog: expectGoodPage, look: expectGoodPage },
  // Firefox ESR 153 crashes while axe reads an open modal dialog, so Firefox checks only the page.
  { name: 'Firefox', start: startFirefox, lookAtDialog: async () => undefined, look: expectAccessible },
])('in $name, a window after another patient was opened', ({ start, lookAtDialog, look }) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await start();
  });
  afterAll(() => browser.close());

  it('shows the notice as a dialog, and as a page after a reload; both are accessible', async () => {
    const context = await browser.newContext();
    const page = await openReview(context);
    await page.locator('#details').fill('Tired for three weeks');
    await launch(context, hughes);
    await lockOf(page).waitFor();
    expect(
      await page.locator('#lock-title').evaluate((node) => node === node.ownerDocument.activeElement),
    ).toBe(true);
    await lookAtDialog(page, 'window-locked');
    await page.reload();
    // Waits for the reloaded page, whose notice is in `main`. Before the reload, the dialog was outside it.
    await page.locator('main #lock-title').waitFor();
    expect(
      await page.locator('#lock-title').evaluate((node) => node === node.ownerDocument.activeElement),
    ).toBe(true);
    await look(page, 'window-locked');
    await workHere(page).click();
    expect(await page.locator('#details').inputValue()).toBe('Tired for three weeks');
    await context.close();
  });
});
