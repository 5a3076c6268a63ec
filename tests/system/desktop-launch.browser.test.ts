import { createPkcePair } from '@clinical-launch/pms-client';
import { records } from '@clinical-launch/simulators/records';
import { startChromium } from '@clinical-launch/testing/chromium';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expectAccessible, expectNoSidewaysScrolling, follow } from './accessibility.ts';
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

/** Opens the host application as its user does. Records the errors and warnings of the browser's console. */
async function openHost(options: Parameters<Browser['newContext']>[0] = {}) {
  const context = await chromium.newContext(options);
  const complaints: string[] = [];
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  const host = await context.newPage();
  await host.goto(platform.url);
  await follow(host, 'Host application');
  return { context, host, complaints };
}

async function press(context: BrowserContext, host: Page, button: string): Promise<Page> {
  const opened = context.waitForEvent('page');
  await host.getByRole('button', { name: button, exact: true }).click();
  return opened;
}

async function openInPartner(context: BrowserContext, host: Page): Promise<Page> {
  const partner = await press(context, host, 'Open in partner application');
  await partner.waitForURL(/\/demo\/partner\/patients\/[0-9a-f-]{36}$/);
  return partner;
}

/** Returns the resource API's answer as the page shows it. */
const resourceOf = (partner: Page, path: string) =>
  partner.getByRole('region', { name: `GET ${path}: 200` }).innerText();

describe('a desktop launch in a browser', () => {
  it('shows the user, organisation, patient and answers of the resource API in the partner application', async () => {
    const { context, host, complaints } = await openHost();
    await follow(host, /súilleabháin/i);
    await expectAccessible(host);
    const partner = await openInPartner(context, host);

    expect(await partner.getByRole('heading', { level: 1 }).innerText()).toMatch(/súilleabháin, Cathal/i);
    const shown = await partner.locator('main').innerText();
    for (const text of [
      'Dr Adaeze Okonkwo',
      'adaeze.okonkwo@harbour-surgery.example',
      'Harbour Surgery',
      'B82017',
      '03-Nov-1987',
      '9434765870',
    ]) {
      expect(shown).toContain(text);
    }
    expect(JSON.parse(await resourceOf(partner, '/resource/me'))).toMatchObject({
      user: { familyName: 'Okonkwo' },
      organisation: { orgName: 'Harbour Surgery' },
    });
    expect(JSON.parse(await resourceOf(partner, '/resource/patient'))).toMatchObject({
      surname: 'Ó Súilleabháin',
      dob: '03-Nov-1987',
    });
    await expectAccessible(partner);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('works with refreshed tokens', async () => {
    const { context, host } = await openHost();
    const partner = await openInPartner(context, host);
    for (const times of ['1 time', '2 times']) {
      await partner.getByRole('button', { name: 'Refresh tokens' }).click();
      await partner.getByText(times, { exact: true }).waitFor();
      expect(JSON.parse(await resourceOf(partner, '/resource/patient'))).toMatchObject({
        surname: 'Whitfield',
      });
    }
    await context.close();
  });

  it('works without JavaScript, with a button to continue', async () => {
    const { context, host } = await openHost({ javaScriptEnabled: false });
    const partner = await press(context, host, 'Open in partner application');
    await partner.getByRole('button', { name: 'Continue' }).click();
    await partner.waitForURL(/\/demo\/partner\/patients\//);
    expect(JSON.parse(await resourceOf(partner, '/resource/patient'))).toMatchObject({
      surname: 'Whitfield',
    });
    await context.close();
  });

  it('sends the authorization request once, because it disables the button', async () => {
    const { context, host } = await openHost();
    // After an answer with 204, the browser stays on the page.
    await context.route('**/oauth2/v2.0/authorize', (route) => route.fulfill({ status: 204 }));
    const partner = await press(context, host, 'Open in partner application');
    const button = partner.getByRole('button', { name: 'Continue', disabled: true });
    await button.waitFor();
    expect(await button.isDisabled()).toBe(true);
    await context.close();
  });

  it('shows the refusal of the resource API if the user may not read the record', async () => {
    const { context, host } = await openHost();
    await host
      .getByRole('checkbox', { name: /may read the clinical record/ })
      .first()
      .uncheck();
    const partner = await openInPartner(context, host);
    const refusal = partner.getByRole('region', { name: 'GET /resource/patient: 403' });
    expect(JSON.parse(await refusal.innerText())).toMatchObject({ error: 'insufficient_scope' });
    expect(JSON.parse(await resourceOf(partner, '/resource/me'))).toMatchObject({
      user: { familyName: 'Okonkwo' },
    });
    await context.close();
  });

  it('shows a page with the reference for support when the launch identifier was already used', async () => {
    const { context, host, complaints } = await openHost();
    const requests: string[] = [];
    context.on('request', (request) => {
      if (request.url().includes('/oauth2/v2.0/authorize')) requests.push(request.postData() ?? '');
    });
    await openInPartner(context, host);
    const again = await context.newPage();
    await again.goto(`${platform.url}/idp/demo/desktop/oauth2/v2.0/authorize?${requests[0]}`);
    await again.getByRole('heading', { name: 'The application cannot be opened' }).waitFor();
    expect(await again.locator('main').innerText()).toMatch(/Reference for support: [0-9a-f-]{36}/);
    expect(await again.getByText('invalid_request').isVisible()).toBe(false);
    await expectGoodPage(again, 'authorize-refused');
    await again.getByText('Technical details').click();
    expect(await again.getByText('invalid_request').isVisible()).toBe(true);
    await expectGoodPage(again, 'authorize-refused');
    expect(complaints).toEqual([expect.stringContaining('400')]);
    await context.close();
  });

  it('keeps two patients apart in two windows of one browser', async () => {
    const { context, host } = await openHost();
    const first = await openInPartner(context, host);
    await follow(host, /gruffydd/i);
    const second = await openInPartner(context, host);
    await first.getByRole('button', { name: 'Refresh tokens' }).click();
    await first.getByText('1 time', { exact: true }).waitFor();
    expect(await first.getByRole('heading', { level: 1 }).innerText()).toMatch(/whitfield/i);
    await second.reload();
    expect(await second.getByRole('heading', { level: 1 }).innerText()).toMatch(/gruffydd, Siân Ŵyn/i);
    await context.close();
  });

  it('leaves no launch identifier, code or state in the browser’s address or history', async () => {
    const { context, host } = await openHost();
    const partner = await openInPartner(context, host);
    const addresses = [partner.url()];
    // Goes back through the whole history.
    while ((await partner.goBack()) !== null) addresses.push(partner.url());
    expect(addresses.filter((address) => /[?&](code|state|launch)=/.test(address))).toEqual([]);
    await context.close();
  });
});

describe('the endpoints of the partner application', () => {
  const handlers = [
    ['a launch from an unregistered issuer', '/demo/partner/launch?iss=https://idp.example&launch=x'],
    ['a launch without an issuer', '/demo/partner/launch?launch=x'],
    ['an authorization response with an unknown state', '/demo/partner/callback?code=x&state=y'],
  ];
  it.each(handlers)('refuse %s', async (_case, path) => {
    const page = await chromium.newPage();
    const response = await page.goto(platform.url + path);
    expect(response?.status()).toBe(400);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toContain('did not open');
    await expectAccessible(page);
    await page.close();
  });

  it('refuse a launch without a launch identifier', async () => {
    const iss = encodeURIComponent(`${platform.url}/idp/demo/desktop/v2.0`);
    const response = await fetch(`${platform.url}/demo/partner/launch?iss=${iss}`);
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('The launch identifier is missing'),
    ]);
  });

  it('refuse an authorization response in a browser that did not start the launch', async () => {
    const { context, host } = await openHost();
    await context.route(/\/demo\/partner\/callback/, (route) => route.abort());
    const redirected = context.waitForEvent('response', (response) => response.status() === 302);
    await press(context, host, 'Open in partner application');
    const callback = (await (await redirected).headerValue('location')) ?? '';
    expect(callback).toMatch(/\/demo\/partner\/callback\?.*code=/);
    const stranger = await chromium.newContext();
    const page = await stranger.newPage();
    const response = await page.goto(callback);
    expect(response?.status()).toBe(400);
    expect(await page.locator('main').innerText()).toContain('belongs to no launch of this browser');
    await stranger.close();
    await context.close();
  });
});

describe('a native partner application', () => {
  it('opens by its own URI scheme, receives the user, organisation and patient, and reads the patient from the resource API', async () => {
    const { context, host } = await openHost();
    await follow(host, /gruffydd/i);
    await host.getByLabel('Application').selectOption('partner-native');
    const page = await press(context, host, 'Open in partner application');
    const open = page.getByRole('button', { name: 'Open native partner application' });
    await open.waitFor();
    await expectAccessible(page);

    // No program handles the scheme here, so the test checks only that the browser tries to open the address.
    const launchUrl = await requestedNavigation(page, () => open.click());
    expect(launchUrl).toMatch(/^partnerapp:\/\/launch\?/);
    const { searchParams } = new URL(launchUrl);
    const issuer = searchParams.get('iss') ?? '';
    expect(issuer).toBe(`${platform.url}/idp/demo/desktop/v2.0`);

    const { codeVerifier, codeChallenge } = createPkcePair();
    const authorize = new URL(`${platform.url}/idp/demo/desktop/oauth2/v2.0/authorize`);
    authorize.search = new URLSearchParams({
      client_id: 'partner-native',
      response_type: 'code',
      redirect_uri: 'partnerapp://auth',
      response_mode: 'query',
      scope: 'openid launch resource.read',
      code_challenge: codeChallenge,
      code_challenge_method: 'S256',
      state: 'native-state',
      launch: searchParams.get('launch') ?? '',
    }).toString();
    const redirect = await redirectOf(context, authorize.href);
    expect(redirect).toMatch(/^partnerapp:\/\/auth\?/);
    const answer = new URL(redirect).searchParams;
    expect(answer.get('state')).toBe('native-state');

    const tokens = await fetch(`${platform.url}/idp/demo/desktop/oauth2/v2.0/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: 'partner-native',
        scope: 'openid launch resource.read',
        code: answer.get('code') ?? '',
        redirect_uri: 'partnerapp://auth',
        code_verifier: codeVerifier,
      }),
    });
    const { access_token, id_token } = (await tokens.json()) as { access_token: string; id_token: string };
    const claims = decodeJwt(id_token);
    expect(claims).toMatchObject({ familyName: 'Okonkwo', orgName: 'Harbour Surgery' });
    expect(JSON.parse(String(claims.authorizationDetails))).toMatchObject([
      { type: 'patient-context', surname: 'Gruffydd', forenames: 'Siân Ŵyn' },
    ]);
    const resource = await fetch(`${platform.url}/resource/patient`, {
      headers: { Authorization: `Bearer ${access_token}` },
    });
    expect([resource.status, await resource.json()]).toEqual([
      200,
      expect.objectContaining({ surname: 'Gruffydd', forenames: 'Siân Ŵyn' }),
    ]);
    await context.close();
  });
});

/** Returns the address that the page navigates to, even if the browser cannot open it. */
async function requestedNavigation(page: Page, act: () => Promise<void>): Promise<string> {
  const session = await page.context().newCDPSession(page);
  await session.send('Page.enable');
  const requested = new Promise<string>((resolve) => {
    session.once('Page.frameRequestedNavigation', ({ url }) => resolve(url));
  });
  await act();
  return requested;
}

/** Returns the address of a redirect, which the browser cannot follow. */
async function redirectOf(context: BrowserContext, address: string): Promise<string> {
  const page = await context.newPage();
  const answered = page.waitForResponse((response) => response.url() === address);
  // Chromium stops the navigation if it finds no program for the scheme.
  await page.goto(address).catch(() => undefined);
  const response = await answered;
  expect(response.status()).toBe(302);
  return (await response.headerValue('location')) ?? '';
}

describe('the host simulator', () => {
  const launch = (partner: string) =>
    fetch(`${platform.url}/demo/host/launches`, {
      method: 'POST',
      body: new URLSearchParams({ patient: records.patients[0]?.id ?? '', partner }),
      redirect: 'manual',
    });

  it('opens any registered partner by its client id', async () => {
    const { status, headers } = await launch(' partner-standard ');
    const address = new URL(headers.get('location') ?? '');
    const { iss, launch: identifier } = Object.fromEntries(address.searchParams);
    expect([status, address.origin, iss]).toEqual([
      303,
      platform.url,
      `${platform.url}/idp/demo/desktop/v2.0`,
    ]);
    expect(identifier).toMatch(/^[\w-]{20,}/);
  });

  it('answers 502 for an unknown partner, and 400 for an invalid client id', async () => {
    const unknown = await launch('partner-of-nobody');
    expect([unknown.status, await unknown.text()]).toEqual([
      502,
      expect.stringContaining('The partner application did not open'),
    ]);
    for (const partner of ['', 'a b', '<x>']) expect((await launch(partner)).status).toBe(400);
  });
});

describe('the pages of the simulators', () => {
  const pages = ['/', '/demo/pms', '/demo/host', '/demo/partner', '/demo/wire'];

  it.each(pages)('are accessible and fit wide and narrow windows: %s', async (path) => {
    for (const width of [1280, 390]) {
      const page = await chromium.newPage({ viewport: { width, height: 844 } });
      await page.goto(platform.url + path);
      await expectAccessible(page);
      await expectNoSidewaysScrolling(page);
      await page.close();
    }
  });

  it('fit a narrow window during a launch', async () => {
    const { context, host } = await openHost({ viewport: { width: 390, height: 844 } });
    await follow(host, /de la cruz/i);
    await expectNoSidewaysScrolling(host);
    const partner = await openInPartner(context, host);
    await expectAccessible(partner);
    await expectNoSidewaysScrolling(partner);
    await context.close();
  });
});
