import { startChromium } from '@clinical-launch/testing/chromium';
import { nodeTextsOf, schemaFaultsOf } from '@clinical-launch/testing/xml';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { follow } from './accessibility.ts';
import { expectGoodPage } from './pictures.ts';
import { startPlatformForTest } from './running-platform.ts';

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let chromium: Browser;
let pms: Page;
beforeAll(async () => {
  [platform, chromium] = await Promise.all([startPlatformForTest(), startChromium()]);
  pms = await chromium.newPage();
  await pms.goto(platform.url);
  await follow(pms, /whitfield/i);
});
afterAll(async () => {
  await chromium.close();
  await platform.stop();
});

/** Opens an action from the patient's record, in a new window. */
async function launch(action: string): Promise<Page> {
  const context = pms.context();
  for (const done of context.pages().filter((page) => page !== pms)) await done.close();
  const opened = context.waitForEvent('page');
  await pms.getByRole('button', { name: action, exact: true }).click();
  const oltr = await opened;
  await oltr.locator('main h1').waitFor();
  // Enter in the search adds tests only once the script of the page has run.
  await oltr.waitForLoadState();
  return oltr;
}

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();

/** Orders tests by their names in the search box, up to the review. */
async function review(names: string): Promise<Page> {
  const oltr = await launch('Order tests');
  await oltr.getByRole('searchbox', { name: 'Search for a test' }).fill(names);
  await oltr.keyboard.press('Enter');
  await oltr.locator('#chosen').getByRole('listitem').first().waitFor();
  await press(oltr, 'Review request');
  await oltr.getByRole('heading', { name: 'Review the request' }).waitFor();
  return oltr;
}

/** Returns the document that the page returns, which must be valid. */
async function documentOf(oltr: Page): Promise<string> {
  const frame = oltr.frameLocator('iframe[name="Notepad"]');
  const document = await frame.locator('textarea[name="Output"]').first().inputValue();
  expect(await schemaFaultsOf(document)).toEqual([]);
  return document;
}

/** Returns the texts of the elements at a path of local names. */
const textsAt = (document: string, ...path: string[]) =>
  nodeTextsOf(document, `/${path.map((name) => `/*[local-name()="${name}"]`).join('')}`);

it('a request that is cancelled in a browser returns a document in which everything has status D', async () => {
  const ordered = await review('fbc msu');
  await press(ordered, 'Submit request');
  await ordered.getByRole('heading', { name: 'Request submitted' }).waitFor();
  const oltr = await launch('Change a request');
  await press(oltr, 'Cancel this request');
  await oltr.getByRole('heading', { name: 'Cancel this request' }).waitFor();
  await expectGoodPage(oltr, 'cancel');
  await press(oltr, 'Cancel this request');
  await oltr.getByRole('heading', { name: 'There is a problem' }).waitFor();
  await expectGoodPage(oltr, 'cancel-problem');
  await oltr.getByRole('radio', { name: 'Requested twice' }).check();
  await press(oltr, 'Cancel this request');
  await oltr.getByRole('heading', { name: 'Request cancelled' }).waitFor();
  await expectGoodPage(oltr, 'cancelled');
  const document = await documentOf(oltr);
  expect(await textsAt(document, 'orderBatch', 'Status')).toEqual(['D', 'D']);
  expect(await textsAt(document, 'testOrder', 'Status')).toEqual(['D', 'D']);
  const changedAt = await textsAt(document, 'LastStatusDate');
  expect(changedAt).toHaveLength(4);
  for (const time of changedAt) expect(time).toMatch(/^\d{14}$/);
  expect(await textsAt(document, 'sampleCompletionTime')).toEqual(['', '']);
  expect(document).not.toContain('Requested twice');

  const list = await launch("Practice's requests");
  await list.getByText('Cancelled', { exact: true }).waitFor();
  await expectGoodPage(list, 'list-cancelled');
  await list
    .getByRole('link', { name: /^View request/ })
    .first()
    .click();
  await list.getByText('Reason: Requested twice').waitFor();
  await expectGoodPage(list, 'report-cancelled');
});

it('a request whose samples a hub collects is chosen by one click, hidden behind a count, and returned with status R', async () => {
  const oltr = await review('fbc msu');
  await oltr.getByRole('radio', { name: /^Not the same/ }).check();
  await oltr
    .getByRole('combobox', { name: 'Samples for North Coast Pathology' })
    .selectOption('Now: collected');
  await oltr.getByLabel('Collected by').waitFor();
  await expectGoodPage(oltr, 'review-each');
  await oltr.getByRole('radio', { name: /^Elsewhere/ }).check();
  expect(await oltr.getByLabel('Collected by').isVisible()).toBe(false);
  expect(await oltr.getByRole('combobox').count()).toBe(0);
  await expectGoodPage(oltr, 'review-elsewhere');
  await press(oltr, 'Submit request');
  await oltr.getByText('To be collected elsewhere').first().waitFor();
  await expectGoodPage(oltr, 'submitted-elsewhere');
  const document = await documentOf(oltr);
  expect(await textsAt(document, 'Status')).toEqual(['R', 'R', 'R', 'R']);
  expect(await textsAt(document, 'sampleCompletionTime')).toEqual(['', '']);
  for (const paper of ['Print request form', 'Print sample labels']) {
    await press(oltr, paper);
    await oltr.getByText('lsewhere').first().waitFor();
    await expectGoodPage(oltr, paper);
    await oltr.goBack();
  }

  const queue = await launch("Practice's sample queue");
  await queue.getByText('Collected elsewhere, not shown until overdue: 1').waitFor();
  await expectGoodPage(queue, 'queue-hidden');
  await press(queue, 'Show requests collected elsewhere');
  await queue
    .getByRole('link', { name: /^Record samples/ })
    .first()
    .waitFor();
  await expectGoodPage(queue, 'queue-elsewhere');
});
