import { startChromium } from '@clinical-launch/testing/chromium';
import { startFirefox } from '@clinical-launch/testing/firefox';
import { schemaFaultsOf } from '@clinical-launch/testing/xml';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expectAccessible, follow } from './accessibility.ts';
import { type Hands, keyboard, mouse } from './hands.ts';
import { expectGoodPage } from './pictures.ts';
import { type ReturnedDocument, readDocument } from './returned-document.ts';
import { startPlatformForTest } from './running-platform.ts';

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  platform = await startPlatformForTest();
});
afterAll(() => platform.stop());

type User = {
  readonly who: string;
  readonly startBrowser: () => Promise<Browser>;
  readonly hands: Hands;
  readonly javaScriptEnabled: boolean;
  readonly patient: RegExp;
  /** Checks a page. Each page is checked once per browser, because all users see the same pages. */
  readonly look: (page: Page, name: string) => Promise<void>;
};

const withScripts = { hands: mouse, javaScriptEnabled: true };
const unchecked = async () => undefined;
/** Each user has their own patient, because a patient's lists also contain the orders of other users. */
const users: readonly User[] = [
  {
    who: 'in Firefox',
    startBrowser: startFirefox,
    ...withScripts,
    patient: /rahman/i,
    look: expectAccessible,
  },
  {
    who: 'with a mouse',
    startBrowser: startChromium,
    ...withScripts,
    patient: /whitfield/i,
    look: expectGoodPage,
  },
  {
    who: 'without JavaScript',
    startBrowser: startChromium,
    hands: mouse,
    javaScriptEnabled: false,
    patient: /súilleabháin/i,
    look: unchecked,
  },
  {
    who: 'by keyboard alone',
    startBrowser: startChromium,
    hands: keyboard,
    javaScriptEnabled: true,
    patient: /gruffydd/i,
    look: unchecked,
  },
];

/** One user in one browser. */
type Desk = User & { readonly context: BrowserContext; readonly pms: Page };

describe.each(users)('the eight actions $who', (user) => {
  let browser: Browser;
  let desk: Desk;
  let orderGuid: string;
  beforeAll(async () => {
    const { javaScriptEnabled, patient, startBrowser } = user;
    browser = await startBrowser();
    const context = await browser.newContext({ javaScriptEnabled });
    const pms = await context.newPage();
    await pms.goto(platform.url);
    await follow(pms, patient);
    desk = { ...user, context, pms };
  });
  // Closes each browser before the next starts: Firefox uses almost a gigabyte.
  afterAll(() => browser.close());

  const { look } = user;

  it('OrderTest returns the chosen tests with the status requested', async () => {
    const { hands } = desk;
    const oltr = await launch(desk, 'Order tests');
    await look(oltr, 'order-choose');
    await choose(desk, oltr, 'fbc', /^Full blood count/);
    await choose(desk, oltr, 'msu', /^Urine culture/);
    await hands.press(oltr, oltr.getByRole('button', { name: 'Review request' }));
    await oltr.getByRole('heading', { name: 'Review the request' }).waitFor();
    await look(oltr, 'order-review');
    await hands.press(oltr, oltr.getByRole('button', { name: 'Submit request' }));
    await oltr.getByRole('heading', { name: 'Request submitted' }).waitFor();
    await look(oltr, 'order-submitted');
    const document = await returnedTo(desk, oltr);
    expect(document.tests).toEqual(['HFBC R', 'KMSU R']);
    expect(document.taken).toBe('');
    orderGuid = document.guid;
  });

  it('UpdateTest returns all batches, with the added and the removed test', async () => {
    const { hands } = desk;
    const oltr = await launch(desk, 'Change a request');
    await look(oltr, 'change-choose');
    await choose(desk, oltr, 'u&e', /^Urea and electrolytes/);
    const chosen = oltr.locator('#chosen');
    await hands.press(oltr, chosen.getByRole('button', { name: /Remove\s+Urine culture/ }));
    await chosen.getByRole('button', { name: /Remove\s+Urine culture/ }).waitFor({ state: 'detached' });
    await hands.press(oltr, oltr.getByRole('button', { name: 'Review changes' }));
    await oltr.getByRole('heading', { name: 'Review the changes' }).waitFor();
    await look(oltr, 'change-review');
    await hands.press(oltr, oltr.getByRole('button', { name: 'Submit changes' }));
    await oltr.getByRole('heading', { name: 'Request updated' }).waitFor();
    await look(oltr, 'change-submitted');
    const document = await returnedTo(desk, oltr);
    expect(document.guid).toBe(orderGuid);
    expect(document.tests).toEqual(['HFBC R', 'BUE R', 'KMSU D']);
  });

  it('PatientSampleQueue returns the recorded sample with its time', async () => {
    const { hands } = desk;
    const oltr = await launch(desk, 'Record samples');
    await look(oltr, 'samples');
    await hands.tick(oltr, oltr.getByRole('checkbox', { name: /^Collected.*EDTA/ }));
    await hands.press(oltr, oltr.getByRole('button', { name: 'Record samples' }));
    await oltr.getByRole('heading', { name: 'Samples recorded' }).waitFor();
    await look(oltr, 'samples-recorded');
    const document = await returnedTo(desk, oltr);
    expect(document.guid).toBe(orderGuid);
    expect(document.tests).toEqual(['HFBC S', 'BUE R', 'KMSU D']);
    expect(document.takenOfEdta).toMatch(/^\d{14}$/);
  });

  it('PatientRequestList submits a request to the laboratory when its last sample is recorded', async () => {
    const { hands } = desk;
    const oltr = await launch(desk, "Patient's incomplete requests");
    await look(oltr, 'patient-queue');
    await hands.press(oltr, oltr.getByRole('link', { name: /^Record samples/ }).first());
    await oltr.getByRole('heading', { name: 'Record samples' }).waitFor();
    await hands.tick(oltr, oltr.getByRole('checkbox', { name: /^Collected.*Serum/ }));
    await hands.press(oltr, oltr.getByRole('button', { name: 'Record samples' }));
    await oltr.getByText('Submitted to the laboratory').first().waitFor();
    const document = await returnedTo(desk, oltr);
    expect(document.guid).toBe(orderGuid);
    expect(document.tests).toEqual(['HFBC S', 'BUE S', 'KMSU D']);
  });

  it('PatientReport shows and prints the request, and returns no document', async () => {
    const oltr = await launch(desk, 'View a request');
    await oltr.getByRole('heading', { name: 'Test request' }).waitFor();
    expect(await oltr.locator('main').innerText()).toMatch(/Complete[^]*Full blood count[^]*History/);
    await look(oltr, 'report');
    expect(await oltr.locator('iframe').count()).toBe(0);
    for (const [link, name] of [
      ['Print request form', 'print-form'],
      ['Print sample labels', 'print-labels'],
    ] as const) {
      await desk.hands.press(oltr, oltr.getByRole('link', { name: link }));
      await oltr
        .getByRole('img', { name: /NCP-\d{6}/ })
        .first()
        .waitFor();
      await look(oltr, name);
      await oltr.goBack();
      await oltr.getByRole('heading', { name: 'Test request' }).waitFor();
    }
  });

  it('PatientReportList lists all requests of the patient, and opens each read-only', async () => {
    const oltr = await launch(desk, "Patient's requests");
    await look(oltr, 'patient-requests');
    await desk.hands.press(oltr, oltr.getByRole('link', { name: /^View request/ }).first());
    await oltr.getByRole('heading', { name: 'Test request' }).waitFor();
    expect(await oltr.locator('iframe, main form').count()).toBe(0);
  });

  it('OrderTest accepts a panel, an answer to a question of the laboratory, and samples collected now', async () => {
    const { hands } = desk;
    const oltr = await launch(desk, 'Order tests');
    await choose(desk, oltr, 'ferritin', /^Ferritin/);
    await choose(desk, oltr, 'haematinics profile', /^Haematinics profile/);
    // Without JavaScript, the notice appears on the next page.
    const notice = oltr.getByText('Ferritin removed: already in Haematinics profile').first();
    if (desk.javaScriptEnabled) await notice.waitFor();
    await look(oltr, 'order-choose-panel');
    await choose(desk, oltr, 'inr', /^International normalised ratio/);
    await hands.press(oltr, oltr.getByRole('button', { name: 'Review request' }));
    await submitTooEarly(desk, oltr);
    await oltr.getByRole('heading', { name: 'There is a problem' }).waitFor();
    await look(oltr, 'order-review-problem');
    await hands.tick(oltr, oltr.getByRole('radio', { name: 'Warfarin' }));
    await hands.tick(oltr, oltr.getByRole('radio', { name: /^Now/ }));
    await look(oltr, 'order-review-collected');
    await hands.press(oltr, oltr.getByRole('button', { name: 'Submit request' }));
    await oltr.getByText('Submitted to the laboratory').first().waitFor();
    expect((await returnedTo(desk, oltr)).tests.toSorted()).toEqual(['CINR S', 'HHAEM S']);
  });

  it('OrderTest accepts a recently requested test again with a reason', async () => {
    const { hands } = desk;
    const oltr = await launch(desk, 'Order tests');
    await choose(desk, oltr, 'ferritin', /^Ferritin/);
    await hands.press(oltr, oltr.getByRole('button', { name: 'Review request' }));
    await submitTooEarly(desk, oltr);
    await oltr.getByRole('heading', { name: 'There is a problem' }).waitFor();
    await look(oltr, 'order-review-repeat');
    await hands.fill(oltr, oltr.getByRole('textbox', { name: /^Another reason/ }), 'Haemolysed sample');
    await hands.press(oltr, oltr.getByRole('button', { name: 'Submit request' }));
    expect((await returnedTo(desk, oltr)).tests).toEqual(['HFER R']);
  });

  it('LocationSampleQueue opens a request of the practice’s queue by its reference, and returns its document', async () => {
    const { hands } = desk;
    const ordered = await anotherOrder(desk);
    const oltr = await launch(desk, "Practice's sample queue");
    await look(oltr, 'practice-queue');
    await search(desk, oltr, ordered.reference);
    await oltr.getByRole('heading', { name: 'Record samples' }).waitFor();
    await hands.press(oltr, oltr.getByRole('button', { name: 'All samples have been collected now' }));
    await oltr.getByRole('heading', { name: 'Every sample is ticked' }).waitFor();
    await look(oltr, 'samples-all-ticked');
    await hands.press(oltr, oltr.getByRole('button', { name: 'Record samples' }));
    await oltr.getByText('Submitted to the laboratory').first().waitFor();
    const document = await returnedTo(desk, oltr);
    expect(document.guid).toBe(ordered.guid);
    expect(document.tests).toEqual(['BCRP S']);
  });

  it('LocationReportList finds the practice’s requests by the patient’s name, and opens a request read-only', async () => {
    const oltr = await launch(desk, "Practice's requests");
    await look(oltr, 'practice-requests');
    await searchFor(desk, oltr, 'nobody of this name');
    await oltr.getByText(/^No requests match/).waitFor();
    await look(oltr, 'practice-requests-none');
    await searchFor(desk, oltr, desk.patient.source);
    await desk.hands.press(oltr, oltr.getByRole('link', { name: /^View request/ }).first());
    await oltr.getByRole('heading', { name: 'Test request' }).waitFor();
    expect(await oltr.locator('iframe, main form').count()).toBe(0);
  });

  it('cannot be continued after the user has signed out', async () => {
    const oltr = await launch(desk, "Patient's requests");
    await desk.hands.press(oltr, oltr.getByRole('button', { name: 'Sign out' }));
    await oltr.getByRole('heading', { name: 'You have signed out' }).waitFor();
    await look(oltr, 'signed-out');
    await oltr.goBack();
    const ended = await oltr.reload();
    expect(ended?.status()).toBe(401);
    await oltr.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await look(oltr, 'session-ended');
  });
});

/** Opens an action from the patient's record, in a new window. */
async function launch({ context, pms, hands }: Desk, button: string): Promise<Page> {
  for (const done of context.pages().filter((page) => page !== pms)) await done.close();
  const opened = context.waitForEvent('page');
  await hands.press(pms, pms.getByRole('button', { name: button, exact: true }));
  const oltr = await opened;
  await oltr.waitForURL(/\/oltr\/[0-9a-f-]{36}\//);
  await oltr.locator('main h1').waitFor();
  return oltr;
}

/**
 * Searches for a test and ticks it. Uses roles, because `getByLabel` crashes pages in Firefox ESR 153 after
 * axe has run.
 */
async function choose({ hands, javaScriptEnabled }: Desk, oltr: Page, words: string, name: RegExp) {
  await hands.fill(oltr, oltr.getByRole('searchbox', { name: 'Search for a test' }), words);
  if (!javaScriptEnabled) await oltr.getByRole('button', { name: 'Search', exact: true }).click();
  const box = oltr.getByRole('checkbox', { name }).first();
  // Names the search, because the summary of the search before it is there until its matches move.
  await oltr.getByText(new RegExp(`of \\d+ tests match(?:es)? “${words}”`)).waitFor();
  await box.waitFor();
  await hands.tick(oltr, box);
}

async function search({ hands }: Desk, oltr: Page, words: string): Promise<void> {
  await hands.fill(oltr, oltr.getByRole('searchbox', { name: /^Search by / }), words);
  await hands.press(oltr, oltr.getByRole('button', { name: 'Search', exact: true }));
}

async function searchFor(desk: Desk, oltr: Page, words: string): Promise<void> {
  await search(desk, oltr, words);
  await oltr.getByRole('heading', { name: words }).waitFor();
}

/** Submits a review with missing answers. With scripts, the button is hidden until the answers are given. */
async function submitTooEarly({ hands, javaScriptEnabled }: Desk, oltr: Page): Promise<void> {
  if (!javaScriptEnabled) return hands.press(oltr, oltr.getByRole('button', { name: 'Submit request' }));
  await oltr.waitForURL(/\/review$/);
  await oltr.keyboard.press('Control+Enter');
}

/** Creates another order of one test for the patient, with samples still to be collected. */
async function anotherOrder(desk: Desk): Promise<{ guid: string; reference: string }> {
  const oltr = await launch(desk, 'Order tests');
  await choose(desk, oltr, 'crp', /^C-reactive protein/);
  await desk.hands.press(oltr, oltr.getByRole('button', { name: 'Review request' }));
  await desk.hands.press(oltr, oltr.getByRole('button', { name: 'Submit request' }));
  return returnedTo(desk, oltr);
}

/** Waits for a valid document in the TEXTAREA of the hidden IFRAME, and returns its content. */
async function returnedTo({ pms, javaScriptEnabled }: Desk, oltr: Page): Promise<ReturnedDocument> {
  await oltr.waitForURL(/\/orders\/[0-9a-f-]{36}$/);
  const output = oltr.frameLocator('iframe[name="Notepad"]').locator('textarea[name="Output"]').first();
  const document = await output.inputValue();
  const [faults, returned] = await Promise.all([schemaFaultsOf(document), readDocument(document)]);
  expect(faults).toEqual([]);
  // The page of the PMS also shows the document that it received, in a closed section below the order.
  if (javaScriptEnabled)
    await pms.locator('pre', { hasText: returned.messageId }).waitFor({ state: 'attached' });
  return returned;
}
