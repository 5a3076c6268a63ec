import { startChromium } from '@clinical-launch/testing/chromium';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { MovedClock } from './moved-clock.ts';
import { expectGoodPage } from './pictures.ts';
import { startPlatformForTest } from './running-platform.ts';

const clock = new MovedClock();
let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let chromium: Browser;
let context: BrowserContext;
let page: Page;
const complaints: string[] = [];
beforeAll(async () => {
  [platform, chromium] = await Promise.all([startPlatformForTest({ clock }), startChromium()]);
  context = await chromium.newContext();
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page = await context.newPage();
});
afterAll(async () => {
  await chromium.close();
  await platform.stop();
});

const unfold = (shown: Page) =>
  shown.locator('details').evaluateAll((folded: { open: boolean }[]) => {
    for (const one of folded) one.open = true;
  });

/** Returns the request line and the status of each exchange: `POST /idp/demo/desktop/launches 201`. */
const linesOf = async (shown: Page) =>
  (await shown.locator('summary').allInnerTexts()).map((text) => text.replace(/^.*?(?=GET|POST)/, ''));

it('the start page of the demo opens a patient with one click, and shows the order that was returned', async () => {
  await page.goto(platform.url);
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Open a patient' }).click();
  const oltr = await opened;
  await oltr.waitForURL(/\/oltr\/[0-9a-f-]{36}\/$/);
  await page.getByRole('link', { name: 'what was sent' }).click();
  await page.getByText('No order has come back').waitFor();
  await oltr.getByRole('checkbox', { name: /^Full blood count/ }).check();
  await oltr.getByRole('button', { name: 'Review request' }).click();
  await oltr.getByRole('button', { name: 'Submit request' }).click();
  for (const way of ['by callback', 'by the message to the page'])
    await page.getByText(`Order document, ${way}`, { exact: true }).waitFor();
  await page.getByRole('cell', { name: 'Full blood count (HFBC)' }).waitFor();
  expect(complaints).toEqual([]);
  await oltr.close();
});

it('the page of a launch shows its requests, and can send them again without JavaScript', async () => {
  const plain = await chromium.newContext({ javaScriptEnabled: false });
  const visitor = await plain.newPage();
  await visitor.goto(platform.url);
  await visitor.getByRole('button', { name: 'Play a whole order' }).click();
  const attempts = [
    'Play it again: 410',
    'Wrong verifier: 401',
    'Same identifier: 409',
    'A client without the right: 403',
  ];
  for (const name of attempts) {
    await visitor.getByRole('button', { name }).click();
    const answer = visitor.getByRole('region', { name: new RegExp(`^${name} \\d: answer`) }).last();
    expect(await answer.innerText()).toContain(`HTTP/1.1 ${name.slice(-3)}`);
  }
  // Opens the page with the answers in a browser with JavaScript, which the accessibility check needs.
  await context.addCookies(await plain.cookies());
  await page.goto(visitor.url());
  await unfold(page);
  await expectGoodPage(page, 'wire');
  await plain.close();
});

it('the page of a desktop launch shows shortened tokens, and can send used tokens again', async () => {
  await page.goto(`${platform.url}/demo/host`);
  const opened = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Open in partner application', exact: true }).click();
  const partner = await opened;
  await partner.getByRole('link', { name: 'Requests of this launch' }).click();
  await partner.getByRole('heading', { name: 'Requests of this launch' }).waitFor();
  const lines = await linesOf(partner);
  expect(lines.slice(0, -2)).toEqual([
    'POST /idp/demo/oauth2/v2.0/token 200',
    'POST /idp/demo/desktop/launches 201',
    'GET /demo/partner/launch 200',
    'GET /idp/demo/desktop/v2.0/.well-known/openid-configuration 200',
    'POST /idp/demo/desktop/oauth2/v2.0/authorize',
    'GET /demo/partner/callback 303',
    'POST /idp/demo/desktop/oauth2/v2.0/token 200',
    'GET /idp/demo/desktop/discovery/v2.0/keys 200',
  ]);
  // The partner application sends these two requests at the same time.
  expect(new Set(lines.slice(-2))).toEqual(new Set(['GET /resource/me 200', 'GET /resource/patient 200']));
  await unfold(partner);
  const tokens = await partner.getByRole('region', { name: 'Exchange 7: answer' }).innerText();
  expect(tokens).toMatch(
    /id_token, decoded:\s+\{[^]*"alg": "RS256"[^]*"familyName": "Okonkwo"[^]*… \(signature\)/,
  );
  const shown = await partner.content();
  expect(shown).not.toMatch(/ey[\w-]+\.ey[\w-]+\.[\w-]{20}|[?&;](?:code|launch)=[\w-]{20}/);

  const references = [...shown.matchAll(/\/audit\/launches\/([0-9a-f-]{36})/g)].map(([, guid = '']) => guid);
  const token = await platform.tokenOf('audit-demo');
  for (const guid of new Set(references))
    await until(async () => (await platform.storyOf(guid, [], token)).length > 0);

  const press = (name: string) => partner.getByRole('button', { name }).click();
  const lastAnswer = (name: string) =>
    partner
      .getByRole('region', { name: new RegExp(`^${name} \\d: answer`) })
      .last()
      .innerText();
  await press('Launch identifier again: 400');
  expect(await lastAnswer('Launch identifier again: 400')).toMatch(/^HTTP\/1.1 400/);
  await press('Refresh token again: 400');
  await partner.getByText('Waiting').waitFor();
  expect(await lastAnswer('Refresh token again: 400')).toMatch(/^HTTP\/1.1 200/);
  clock.advance({ seconds: 12 });
  await partner.reload();
  expect(await lastAnswer('Refresh token again: 400')).toMatch(/^HTTP\/1.1 400[^]*"error": "invalid_grant"/);
  await press('Code again: 400');
  expect(await lastAnswer('Code again: 400')).toMatch(/^HTTP\/1.1 400[^]*"error": "invalid_grant"/);
  await expectGoodPage(partner, 'wire-desktop');
  expect(complaints).toEqual([]);
});
