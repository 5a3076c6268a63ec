import { startChromium } from '@clinical-launch/testing/chromium';
import { afterAll, beforeAll } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { type Application, type OpenLaunch, startOrdering } from './launches.ts';

/** The browser window in which the page of a launch is open. */
type OpenedWindow = {
  readonly browser: BrowserContext;
  readonly page: Page;
  readonly close: () => Promise<void>;
};

type WindowOptions = BrowserContextOptions & {
  /** The path of the page, relative to the launch; by default the home page of the launch. */
  readonly path?: string;
  /** Prepares the browser before it opens the page. */
  readonly prepare?: (browser: BrowserContext) => unknown;
};

/** The ordering service, and a Chromium browser in which tests use its pages. */
export type Desk = {
  readonly application: Application;
  /** Opens a page of a launch in a new browser with the launch's cookie. */
  open(launch: OpenLaunch, options?: WindowOptions): Promise<OpenedWindow>;
};

/** Starts the service and the browser before the tests of the calling file, and stops both afterwards. */
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
    if (part === undefined) throw new Error('The desk exists only while tests run');
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
      // The browser applies `autofocus` when it renders the page, which may be after the load event.
      await page.locator('[autofocus]:not(:focus)').waitFor({ state: 'detached' });
      return { browser, page, close: () => browser.close() };
    },
  };
}
