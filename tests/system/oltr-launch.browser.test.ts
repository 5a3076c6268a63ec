import { startChromium } from '@clinical-launch/testing/chromium';
import { schemaFaultsOf } from '@clinical-launch/testing/xml';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expectAccessible, follow } from './accessibility.ts';
import { requestLaunch } from './audit-launches.ts';
import { expectGoodPage } from './pictures.ts';
import { startPlatformForTest } from './running-platform.ts';

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let chromium: Browser;
beforeAll(async () => {
  [platform, chromium] = await Promise.all([startPlatformForTest(), startChromium()]);
});
afterAll(async () => {
  await chromium.close();
  await platform.stop();
});

/** Opens the PMS as its user does, and records the browser's console errors. */
async function openPms() {
  const context = await chromium.newContext();
  const complaints: string[] = [];
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  const pms = await context.newPage();
  await pms.goto(platform.url);
  await follow(pms, /whitfield/i);
  return { context, pms, complaints };
}

async function launch(context: BrowserContext, pms: Page, button: string): Promise<Page> {
  const opened = context.waitForEvent('page');
  await pms.getByRole('button', { name: button, exact: true }).click();
  const oltr = await opened;
  await oltr.waitForURL(/\/oltr\/[0-9a-f-]{36}\/$/);
  return oltr;
}

/** Returns the locator of the order document in the Notepad page. */
const notepadOf = (oltr: Page) =>
  oltr.frameLocator('iframe[name="Notepad"]').locator('textarea[name="Output"]');

describe('an OLTR launch in a browser', () => {
  it('returns order XML with two batches for tests of two laboratories', async () => {
    const { context, pms, complaints } = await openPms();
    await expectAccessible(pms);
    await follow(pms, /súilleabháin/i);
    const oltr = await launch(context, pms, 'Order tests');
    expect(await oltr.getByText('Ó SÚILLEABHÁIN, Cathal').first().isVisible()).toBe(true);

    await oltr.getByRole('checkbox', { name: /^Full blood count/ }).check();
    await oltr.getByLabel('Search for a test').fill('chest');
    await oltr.getByRole('checkbox', { name: /^Chest X-ray/ }).check();
    await oltr.getByRole('button', { name: 'Review request' }).click();
    await oltr.getByRole('heading', { name: 'Review the request' }).waitFor();
    await oltr.getByLabel('Clinical details').fill('Cough for three weeks');
    await oltr.getByRole('button', { name: 'Submit request' }).click();
    await oltr.getByRole('heading', { name: 'Request submitted' }).waitFor();

    await pms.getByText('Order document (XML)').waitFor();
    const xml = (await pms.locator('pre').textContent()) ?? '';
    expect(xml.match(/<orderBatch>/g)).toHaveLength(2);
    expect(xml).toContain('<familyName>Ó Súilleabháin</familyName>');
    expect(xml).toContain('<testDescription>Full blood count</testDescription>');
    expect(xml).toContain('<testDescription>Chest X-ray</testDescription>');
    expect(await schemaFaultsOf(xml)).toEqual([]);
    await expectAccessible(pms);

    expect(await notepadOf(oltr).inputValue()).toBe(xml);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('posts the document only to the registered origin, not to another site in the same window', async () => {
    const { context, pms } = await openPms();
    const oltr = await launch(context, pms, 'Order tests');
    await context.route('http://stranger.example/', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: '<ol></ol><script>onmessage = ({ data }) => { const line = document.createElement("li"); line.textContent = JSON.stringify(data); document.querySelector("ol").append(line); };</script>',
      }),
    );
    // Navigates like a link, so that the window remains the opener of the launch.
    await pms.evaluate("location.href = 'http://stranger.example/'");
    await pms.waitForURL('http://stranger.example/');
    await oltr.getByRole('checkbox', { name: /^Full blood count/ }).check();
    await oltr.getByRole('button', { name: 'Review request' }).click();
    await oltr.getByRole('button', { name: 'Submit request' }).click();
    await oltr.getByRole('heading', { name: 'Request submitted' }).waitFor();
    await notepadOf(oltr).waitFor({ state: 'attached' });
    await oltr.waitForLoadState('load');
    // Messages arrive in order, so the document would have arrived before this message.
    await oltr.evaluate("window.opener.postMessage('within reach', '*')");
    await pms.getByText('within reach').waitFor();
    expect(await pms.locator('li').allInnerTexts()).toEqual(['"within reach"']);
    await context.close();
  });

  it('leaves no verifier in the browser’s address, referrer or history', async () => {
    const { context, pms } = await openPms();
    const referrers: (string | undefined)[] = [];
    context.on('request', (request) => {
      if (new URL(request.url()).pathname.startsWith('/oltr/')) referrers.push(request.headers().referer);
    });
    const oltr = await launch(context, pms, 'Order tests');
    expect(oltr.url()).not.toMatch(/codeVerifier|launchToken/);
    expect(referrers.filter((referrer) => referrer?.includes('codeVerifier'))).toEqual([]);
    await oltr.goBack();
    expect(oltr.url()).not.toMatch(/codeVerifier|launchToken/);
    await context.close();
  });

  it('is opened by a navigation alone: an image, a script and a fetch leave it usable', async () => {
    const { url, codeVerifier } = await requestLaunch(platform);
    const address = `${url}&codeVerifier=${codeVerifier}`;
    const context = await chromium.newContext();
    const statuses: number[] = [];
    context.on('response', (response) => {
      if (response.url() === address) statuses.push(response.status());
    });
    const page = await context.newPage();
    await page.route(`${platform.url}/page`, (route) => {
      const body = `<img src="${address}"><script src="${address}"></script>`;
      return route.fulfill({ contentType: 'text/html', body });
    });
    await page.goto(`${platform.url}/page`);
    await page.evaluate((launchUrl) => fetch(launchUrl), address);
    expect(statuses).toEqual([401, 401, 401]);
    await page.goto(address);
    await page.waitForURL(/\/oltr\/[0-9a-f-]{36}\/$/);
    await context.close();
  });

  it('redirects a used launch to the error page of the PMS, with the reference for support and the next step', async () => {
    const { context, pms, complaints } = await openPms();
    const addresses: string[] = [];
    context.on('request', (request) => {
      if (request.url().includes('/secureLaunch?')) addresses.push(request.url());
    });
    const oltr = await launch(context, pms, 'Order tests');
    const [, launchId = ''] = /\/oltr\/([0-9a-f-]{36})\//.exec(oltr.url()) ?? [];
    const again = await context.newPage();
    await again.goto(addresses[0] ?? '');
    await again.getByRole('heading', { name: 'The launch could not be opened' }).waitFor();
    expect(again.url()).toBe(`${platform.url}/demo/pms/launch-error?reference=${launchId}&reason=token_used`);
    expect(await again.getByText(launchId).isVisible()).toBe(true);
    await expectGoodPage(again, 'launch-error');
    const program = await fetch(addresses[0] ?? '');
    expect([program.status, await program.text()]).toEqual([410, '']);
    await again.getByRole('link', { name: /Back to the patient.s record/ }).click();
    await again.getByRole('heading', { name: /whitfield/i }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('leaves at most two cookies for each of ten orders, which end after half an hour and open the document', async () => {
    const context = await chromium.newContext();
    const page = await context.newPage();
    for (let orders = 0; orders < 10; orders += 1) {
      const { url, codeVerifier } = await requestLaunch(platform);
      await page.goto(`${url}&codeVerifier=${codeVerifier}`);
      await page.getByRole('checkbox', { name: /^Full blood count/ }).check();
      await page.getByRole('button', { name: 'Review request' }).click();
      await page.getByRole('button', { name: 'Submit request' }).click();
      await page.getByRole('heading', { name: 'Request submitted' }).waitFor();
      await notepadOf(page).waitFor({ state: 'attached' });
    }
    const sessions = (await context.cookies()).filter(({ name }) => name === 'launch-session');
    expect(sessions).toHaveLength(20);
    const latest = Date.now() / 1000 + 1800;
    expect(sessions.filter(({ expires }) => expires < 0 || expires > latest)).toEqual([]);

    const guid = page.url().slice(-36);
    const saved = page.waitForEvent('download');
    // A navigation that becomes a download fails.
    await page.goto(`${platform.url}/orders/${guid}.xml`).catch(() => undefined);
    expect((await saved).suggestedFilename()).toBe(`order-${guid}.xml`);
    await context.close();
  });

  it('sends no Cross-Origin-Opener-Policy, so pages can post to the window of the PMS', async () => {
    const { context, pms } = await openPms();
    const policies = new Map<string, string | undefined>();
    context.on('response', (response) => {
      const kind = new URL(response.url()).pathname.replaceAll(/[0-9a-f-]{36}/g, '{guid}');
      policies.set(kind, response.headers()['cross-origin-opener-policy']);
    });
    const oltr = await launch(context, pms, 'Order tests');
    await oltr.getByRole('checkbox', { name: /^Full blood count/ }).check();
    await oltr.getByRole('button', { name: 'Review request' }).click();
    await oltr.getByRole('button', { name: 'Submit request' }).click();
    await oltr.getByRole('heading', { name: 'Request submitted' }).waitFor();
    const pages = ['/secureLaunch', '/oltr/{guid}/', '/oltr/{guid}/review', '/oltr/{guid}/orders/{guid}'];
    for (const page of pages) expect([page, policies.get(page)]).toEqual([page, undefined]);
    expect([...policies.keys()]).toEqual(expect.arrayContaining(pages));
    await context.close();
  });
});
