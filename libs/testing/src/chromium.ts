import { existsSync } from 'node:fs';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { waitLimitMs } from './until.ts';

/** The paths of Chromium. The headless build is first, because it needs half the memory and CPU. */
const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/**
 * Starts the Chromium of this machine, or the program of `CHROMIUM_PATH`. Its pages wait for up to
 * `waitLimitMs` for elements and navigation.
 * @throws Error that names the package to install if there is no Chromium. A browser test is never skipped
 */
export async function startChromium(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM_PATH ?? places.find((place) => existsSync(place));
  if (executablePath === undefined) {
    throw new Error('The browser tests need Chromium. Install it, or set CHROMIUM_PATH to its program');
  }
  // Loads the package only here, because it is large, and most tests do not need it.
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({
    executablePath,
    // The sandbox of Chromium does not start for root, and CI runs as root in a container.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  return waitsForPages(browser);
}

/** Makes the pages of a browser wait for up to `waitLimitMs`, and returns the browser. */
export function waitsForPages(browser: Browser): Browser {
  const patient = <Opened extends BrowserContext | Page>(opened: Opened) => {
    opened.setDefaultTimeout(waitLimitMs);
    return opened;
  };
  const newContext = browser.newContext.bind(browser);
  const newPage = browser.newPage.bind(browser);
  browser.newContext = async (options) => patient(await newContext(options));
  browser.newPage = async (options) => patient(await newPage(options));
  return browser;
}

/**
 * Presses Tab until an element has the focus. Returns the number of presses.
 * @throws Error after 600 presses
 */
export async function tabTo(page: Page, element: Locator): Promise<number> {
  await element.waitFor({ state: 'attached' });
  // Waits until the page has loaded, because its fragment or its script may still move the focus.
  await page.waitForLoadState();
  for (let presses = 0; presses < 600; presses += 1) {
    if (await element.evaluate((node) => node === node.ownerDocument.activeElement)) return presses;
    await page.keyboard.press('Tab');
  }
  throw new Error('600 presses of Tab did not reach the element');
}
