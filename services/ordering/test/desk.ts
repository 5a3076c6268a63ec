import { startChromium } from '@clinical-launch/testing/chromium';
import { afterAll, beforeAll } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { type Application, type OpenLaunch, startOrdering } from './launches.ts';

/** A window of a browser of its own, in which a launch was opened. */
type OpenedWindow = {
  readonly browser: BrowserContext;
  readonly page: Page;
  /** Ends the browser. */
  readonly close: () => Promise<void>;
};

type WindowOptions = BrowserContextOptions & {
  /** Below the launch: its home page by default. */
  readonly path?: string;
  /** Prepares the browser before it opens the page. */
  readonly prepare?: (browser: BrowserContext) => unknown;
};

/** What a clinician works at: ordering, and Chromium. */
export type Desk = {
  readonly application: Application;
  /** Opens a page of a launch in the browser that the launch belongs to. */
  open(launch: OpenLaunch, options?: WindowOptions): Promise<OpenedWindow>;
};

/** Returns a desk that exists while the tests of the calling file run. */
export function useDesk(): Desk {
  let application: Application | undefined;
  let chromium: Browser | undefined;
  beforeAll(async () => {
    [application, chromium] = await Promise.all([startOrdering(), startChromium()]);
  });
  afterAll(async () => {
    await chromium?.close();
    await application?.stop();
  });
  const started = <Part>(part: Part | undefined): Part => {
    if (part === undefined) throw new Error('A desk exists only while a test runs');
    return part;
  };
  return {
    get application() {
      return started(application);
    },
    async open(launch, { path = '', prepare, ...options } = {}) {
      const browser = await started(chromium).newContext(options);
      await browser.addCookies([launch.browserCookie]);
      await prepare?.(browser);
      const page = await browser.newPage();
      await page.goto(started(application).url + launch.home + path);
      // The focus moves there when the page is drawn, which may be after it has loaded.
      await page.locator('[autofocus]:not(:focus)').waitFor({ state: 'detached' });
      return { browser, page, close: () => browser.close() };
    },
  };
}
