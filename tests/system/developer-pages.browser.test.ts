import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { startChromium } from '@clinical-launch/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expectNoSidewaysScrolling } from './accessibility.ts';
import { type Hands, keyboard, mouse } from './hands.ts';
import { expectGoodPage } from './pictures.ts';
import { startPlatformForTest } from './running-platform.ts';

type Registry = { readonly realms: { readonly realm: string; readonly clients: object[] }[] };

const sandboxClient = (clientId: string, changes: object = {}) => ({
  clientId,
  name: clientId,
  secrets: [{ sha256: createHash('sha256').update(`${clientId}-secret`).digest('hex') }],
  scopes: ['ocs-launch.write'],
  practices: 'any',
  sandbox: true,
  ...changes,
});

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let chromium: Browser;
beforeAll(async () => {
  const clients = [sandboxClient('vendor')];
  const changeRegistry = (text: string) => {
    const registry = JSON.parse(text) as Registry;
    registry.realms.find(({ realm }) => realm === 'demo')?.clients.push(...clients);
    return JSON.stringify(registry);
  };
  [platform, chromium] = await Promise.all([startPlatformForTest({ changeRegistry }), startChromium()]);
});
afterAll(async () => {
  await chromium.close();
  await platform.stop();
});

/** Signs a developer in to the portal, and records the requests and the console errors of the browser. */
async function signIn(clientId: string, options: Parameters<Browser['newContext']>[0] = {}) {
  const context = await chromium.newContext(options);
  const [addresses, complaints]: [string[], string[]] = [[], []];
  context.on('request', (request) => addresses.push(request.url()));
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  const answer = await fetch(`${platform.url}/developers/session`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${await platform.tokenOf(clientId)}` },
  });
  const { url } = JSON.parse(await answer.text()) as { readonly url: string };
  const page = await context.newPage();
  await page.goto(url);
  await page.getByRole('button', { name: 'Sign in' }).click();
  return { context, page, addresses, complaints };
}

/** Opens a page with the navigation, and waits for its heading. */
async function openPage(page: Page, name: string): Promise<void> {
  const navigation = page.getByRole('navigation', { name: 'Developer pages' });
  await navigation.getByRole('link', { name, exact: true }).click();
  await page
    .getByRole('heading', { level: 1, name: name === 'Conformance' ? 'Conformance runs' : name })
    .waitFor();
}
const payloadIn = (page: Page) => page.getByRole('textbox', { name: /^Payload/ });
const button = (page: Page, name: string) => page.getByRole('button', { name });

/** Checks the page at three widths, and takes its picture if `SHOTS` names a folder. */
async function expectGoodAtEveryWidth(page: Page, name: string) {
  await expectGoodPage(page, name);
  for (const width of [390, 1280, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    await expectNoSidewaysScrolling(page);
    const folder = process.env['SHOTS'];
    if (folder !== undefined)
      await page.screenshot({ path: join(folder, `${name}-${width}.png`), fullPage: true });
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

const launchIn = async (context: BrowserContext, press: () => Promise<void>) => {
  const [opened] = await Promise.all([context.waitForEvent('page'), press()]);
  await opened.waitForURL(/\/oltr\/[0-9a-f-]{36}\/$/);
  return opened;
};

/** A payload with faults on three lines. */
const faulty = JSON.stringify(
  {
    resourceType: 'ServiceRequest',
    authoredOn: 'yesterday',
    subject: { reference: 'Patient/1' },
    contained: 1,
  },
  undefined,
  2,
);

describe.each<[string, Hands, boolean]>([
  ['with a mouse', mouse, true],
  ['with a keyboard', keyboard, true],
  ['without JavaScript', mouse, false],
])('a developer %s', (_name, hands, javaScriptEnabled) => {
  it('checks a payload, and follows a fault to its line', async () => {
    const { context, page, addresses, complaints } = await signIn('vendor', { javaScriptEnabled });
    await openPage(page, 'Check a payload');
    await payloadIn(page).fill(faulty);
    await hands.press(page, button(page, 'Check the payload'));
    await hands.press(page, page.getByRole('link', { name: /^Line 3: authoredOn must be a date/ }));
    await page.waitForURL(`${platform.url}/developers/payload#line-3`);
    const line = page.locator('#line-3');
    expect(await line.innerText()).toContain('"authoredOn": "yesterday"');
    expect(await line.evaluate((node) => node.matches(':target'))).toBe(true);
    expect(await payloadIn(page).inputValue()).toBe(faulty);
    expect(addresses.filter((address) => /yesterday|authoredOn/.test(address))).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('launches the application in a new window', async () => {
    const { context, page, addresses, complaints } = await signIn('vendor', { javaScriptEnabled });
    await openPage(page, 'Launch');
    const launch = () => hands.press(page, button(page, 'Launch in a new window'));
    const opened = await launchIn(context, launch);
    expect(await opened.getByText('SPECIMEN, Ada').first().isVisible()).toBe(true);
    // The application must not control the developer's page.
    expect(await opened.evaluate('opener')).toBeNull();
    await opened.close();

    await page.getByLabel('Synthetic patient').selectOption('9990000158');
    await hands.press(page, button(page, 'Build the payload'));
    await page.waitForURL(/#built$/);
    const other = await launchIn(context, launch);
    expect(await other.getByText('TEST-CASE, Zoë').first().isVisible()).toBe(true);
    // Searches for a whole NHS number that begins with 999, because the GUID of a launch may contain 999.
    expect(addresses.filter((address) => /999\d{7}|Zo%C3%AB|Specimen/.test(address))).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('the pages of the portal', () => {
  it('are accessible, and fit into windows of 390 to 1920 pixels', async () => {
    const { context, page, complaints } = await signIn('vendor');
    await openPage(page, 'Check a payload');
    await expectGoodAtEveryWidth(page, 'payload-empty');
    await openPage(page, 'Launch');
    const example = await payloadIn(page).inputValue();
    await expectGoodAtEveryWidth(page, 'launches');
    const states = [
      [
        'payload-faults',
        example.replaceAll('"usual"', '"official"').replace('9990000018', `943${'x'.repeat(300)}`),
      ],
      ['payload-not-json', example.replace(',', ',,')],
      ['payload-good', example],
    ] as const;
    for (const [name, payload] of states) {
      await openPage(page, 'Check a payload');
      await payloadIn(page).fill(payload);
      await button(page, 'Check the payload').click();
      await page
        .getByText(/faults? in the payload|The payload has no faults/)
        .first()
        .waitFor();
      await expectGoodAtEveryWidth(page, name);
    }
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('show a refused launch in its window, with the faults at their lines', async () => {
    const { context, page } = await signIn('vendor');
    await openPage(page, 'Launch');
    const example = await payloadIn(page).inputValue();
    const launch = async (payload: string) => {
      await payloadIn(page).fill(payload);
      const opening = context.waitForEvent('page');
      await button(page, 'Launch in a new window').click();
      return opening;
    };
    const refused = await launch(example.replace('9990000018', '9434765919'));
    await refused.getByRole('heading', { name: 'The platform refused the launch' }).waitFor();
    expect(await refused.locator('.app-lines__faulty').innerText()).toContain('must begin with 999');
    await expectGoodAtEveryWidth(refused, 'launches-refused');
    for (const text of ['SPECIMEN, Ada', 'SPECIMEN, Ada'])
      await (await launch(example)).getByText(text).first().waitFor();
    await page.getByLabel('Send a new identifier').uncheck();
    for (const text of ['SPECIMEN, Ada', 'was already used'])
      await (await launch(example)).getByText(text).first().waitFor();
    await context.close();
  });
});

describe.each<[string, Hands, boolean]>([
  ['with a keyboard', keyboard, true],
  ['without JavaScript', mouse, false],
])('a developer %s', (_name, hands, javaScriptEnabled) => {
  it('requests a failure of the next request, and finds that request in the list', async () => {
    const { context, page } = await signIn('vendor', { javaScriptEnabled });
    if (javaScriptEnabled) await expectGoodAtEveryWidth(page, 'home');
    await openPage(page, 'Requests');
    await page.getByLabel('Answer', { exact: true }).selectOption('503');
    await hands.press(page, button(page, 'Break it'));
    await page.getByText('Waiting: 503 for any request').waitFor();
    const token = await platform.tokenOf('vendor');
    const answer = await fetch(`${platform.url}/developers/api/vendor/AccessApi/RequestLaunchUrl`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'X-Patient': 'Whitfield' },
    });
    expect(answer.status).toBe(503);
    await page.reload();
    await page.getByText('503 on demand').first().waitFor();
    await hands.press(page, page.locator('summary').first());
    await page.getByText('x-patient').first().waitFor();
    expect(await page.content()).not.toContain('Whitfield');
    if (javaScriptEnabled) await expectGoodAtEveryWidth(page, 'requests');
    await context.close();
  });

  it('starts a conformance run, skips a step and finishes the run', async () => {
    const { context, page } = await signIn('vendor', { javaScriptEnabled });
    await openPage(page, 'Conformance');
    if (javaScriptEnabled) await expectGoodAtEveryWidth(page, 'runs');
    await page.getByRole('textbox', { name: /^The client secret/ }).fill('Ada Okonkwo');
    await hands.press(page, button(page, 'Start a run'));
    await page.getByText(/^Step 1 of/).waitFor();
    await hands.press(page, button(page, 'Skip this step'));
    await page.getByText(/^Step 2 of/).waitFor();
    if (javaScriptEnabled) await expectGoodAtEveryWidth(page, 'run');
    await hands.press(page, button(page, 'Finish the run'));
    await page.getByText('The run has finished.').waitFor();
    expect(await page.getByRole('table').innerText()).toContain('Attested by Ada Okonkwo');
    if (javaScriptEnabled) await expectGoodAtEveryWidth(page, 'finished-run');
    await context.close();
  });
});
