import { startChromium } from '@clinical-launch/testing/chromium';
import { startFirefox } from '@clinical-launch/testing/firefox';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  type Application,
  aLaunchContext,
  aPatient,
  type OpenLaunch,
  rowsOf,
  startOrdering,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

/** The window of a patient, and the text that it must show or submit. */
type BrowserWindow = { readonly launch: OpenLaunch; readonly page: Page; text: string; isSubmitted: boolean };

const isLocked = (page: Page, state: 'visible' | 'hidden' = 'visible') =>
  page.locator('#lock-title').waitFor({ state });

/** Opens the review of a test in a further window of a browser. */
async function openReview(context: BrowserContext): Promise<BrowserWindow> {
  const { author } = aLaunchContext().request;
  const launch = await application.openLaunch(aLaunchContext({ request: { patient: aPatient(), author } }));
  await launch.post('chosen', [['action', 'add:HFBC']]);
  await context.addCookies([{ ...launch.browserCookie, path: launch.home }]);
  const page = await context.newPage();
  await page.goto(`${application.url}${launch.home}review`);
  return { launch, page, text: '', isSubmitted: false };
}

async function expectText({ page, text }: BrowserWindow): Promise<void> {
  expect(await page.locator('#details').inputValue()).toBe(text);
}

/** Two windows of one browser. The user can work only in the chosen window. */
class Desk {
  readonly #windows: readonly BrowserWindow[];
  #chosen: BrowserWindow;
  #texts = 0;

  constructor(windows: readonly [BrowserWindow, BrowserWindow]) {
    this.#windows = windows;
    this.#chosen = windows[1];
  }

  async settle(): Promise<void> {
    for (const window of this.#windows) {
      if (!window.isSubmitted) await isLocked(window.page, window === this.#chosen ? 'hidden' : 'visible');
    }
  }

  async workInOther(): Promise<void> {
    const other = this.#windows.find((window) => window !== this.#chosen && !window.isSubmitted);
    if (other === undefined) return;
    await other.page.bringToFront();
    await other.page.getByRole('button', { name: 'Work on this patient here' }).click();
    this.#chosen = other;
    await this.settle();
    await expectText(other);
  }

  async type(): Promise<void> {
    const { page, isSubmitted } = this.#chosen;
    if (isSubmitted) return;
    this.#texts += 1;
    this.#chosen.text = `Text ${this.#texts}`;
    await page.locator('#details').fill(this.#chosen.text);
    // The script saves at once when the connection returns, and otherwise after a pause.
    await page.evaluate('dispatchEvent(new Event("online"))');
    await page.locator('#saved').getByText('Saved').waitFor();
  }

  async reload(): Promise<void> {
    for (const { page, isSubmitted } of this.#windows) if (!isSubmitted) await page.reload();
    await this.settle();
  }

  /** Presses the submit button of a window that has no connection. */
  async submitOffline(): Promise<void> {
    const { page, isSubmitted } = this.#chosen;
    if (isSubmitted) return;
    await page.route('**', (route) => route.abort());
    await page.locator('button[value="submit"]').click();
    await page.locator('#connection').getByText('Nothing was sent').waitFor();
    await page.unroute('**');
    await page.evaluate('dispatchEvent(new Event("online"))');
    await page.locator('#connection:empty').waitFor({ state: 'attached' });
  }

  async submit(): Promise<void> {
    if (this.#chosen.isSubmitted) return;
    await this.#chosen.page.locator('button[value="submit"]').click();
    await this.#chosen.page.waitForURL(/\/orders\//);
    this.#chosen.isSubmitted = true;
  }

  /** Submits the remaining orders. Returns the texts of the stored orders, and the typed texts. */
  async end() {
    await this.submit();
    await this.workInOther();
    await this.submit();
    const rows = await Promise.all(this.#windows.map(({ launch }) => rowsOf(application, launch)));
    return {
      stored: rows.map((orders) => orders.map(({ clinical_details: text }) => text)),
      typed: this.#windows.map(({ text }) => [text]),
    };
  }
}

const steps = ['workInOther', 'workInOther', 'type', 'type', 'reload', 'submit', 'submitOffline'] as const;

/**
 * The batches of sequences, one for each test, so that no test exceeds its time limit. With `LONG=1`, each
 * browser runs 40 sequences.
 */
const batches = process.env['LONG'] === '1' ? [1, 2, 3, 4, 5] : [1];

/** Returns the same sequences in each run, so that no run fails by chance. */
const sequencesOf = (batch: number) =>
  fc.sample(fc.array(fc.constantFrom(...steps), { minLength: 2, maxLength: 5 }), {
    numRuns: 8,
    seed: 20_261_125 + batch,
  });

describe.each([
  { name: 'Chromium', start: startChromium },
  { name: 'Firefox', start: startFirefox },
])('sequences of user steps in two windows of $name', ({ start }) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await start();
  });
  afterAll(() => browser.close());

  it.each(batches)(
    'store the order of each window with the text that the user typed in that window: batch %i',
    async (batch) => {
      for (const sequence of sequencesOf(batch)) {
        const context = await browser.newContext();
        const desk = new Desk([await openReview(context), await openReview(context)]);
        await desk.settle();
        for (const step of sequence) await desk[step]();
        const { stored, typed } = await desk.end();
        expect(stored).toEqual(typed);
        await context.close();
      }
    },
  );
});
