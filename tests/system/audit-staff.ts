import type { Browser, BrowserContext, Page } from 'playwright-core';

/** Signs in to the audit pages as a person of the demo, and waits for the next page. */
export async function signInAs(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `Sign in as ${name}` }).click();
  await page.waitForURL(/\/audit\//);
}

export type StaffBrowser = {
  readonly context: BrowserContext;
  readonly page: Page;
  /** The addresses of all requests of this browser. */
  readonly addresses: readonly string[];
  /** The errors and warnings in the browser's console. */
  readonly complaints: readonly string[];
};

/** Opens a separate browser context, and records its requests and its console errors. */
export async function openStaffBrowser(
  chromium: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<StaffBrowser> {
  const context = await chromium.newContext(options);
  const [addresses, complaints]: [string[], string[]] = [[], []];
  context.on('request', (request) => addresses.push(request.url()));
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  return { context, page: await context.newPage(), addresses, complaints };
}
