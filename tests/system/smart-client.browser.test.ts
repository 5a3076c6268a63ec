import { readFileSync } from 'node:fs';
import { listen, type RunningServer } from '@clinical-launch/http/server';
import { launchBody } from '@clinical-launch/simulators/host/desktop-launch';
import { getPatient } from '@clinical-launch/simulators/records';
import { startChromium } from '@clinical-launch/testing/chromium';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startPlatformForTest } from './running-platform.ts';

const library = readFileSync(new URL(import.meta.resolve('fhirclient/build/fhir-client.js')));

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let chromium: Browser;
let application: RunningServer;
beforeAll(async () => {
  [platform, chromium] = await Promise.all([startPlatformForTest(), startChromium()]);
  application = await startApplication();
});
afterAll(async () => {
  await chromium.close();
  await application.stop();
  await platform.stop();
});

/**
 * Starts a browser-based application as in the README of fhirclient, with a launch page and a callback page.
 */
function startApplication(): Promise<RunningServer> {
  const pages: Readonly<Record<string, string>> = {
    '/launch': `FHIR.oauth2.authorize({
      clientId: 'partner-standard',
      scope: 'openid profile offline_access launch resource.read',
      redirectUri: '/callback',
    })`,
    '/callback': `FHIR.oauth2.ready().then(
      async (client) => ({
        tokens: client.state.tokenResponse,
        idToken: client.getIdToken(),
        resource: await client.request('${platform.url}/resource/patient'),
      }),
    ).then(
      (outcome) => { window.outcome = outcome },
      (error) => { window.outcome = { error: String(error) } },
    )`,
  };
  return listen(
    (request, response) => {
      const path = (request.url ?? '').split('?', 1)[0] ?? '';
      if (path === '/fhir-client.js')
        return void response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(library);
      const script = pages[path];
      if (script === undefined) return void response.writeHead(404).end();
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end(`<!doctype html><script src="/fhir-client.js"></script><script>${script}</script>`);
    },
    { port: 0, host: '127.0.0.1' },
  );
}

/** Requests a launch as the host application does, and returns the query of the launch URL. */
async function requestLaunch(): Promise<URLSearchParams> {
  const response = await fetch(`${platform.url}/idp/demo/desktop/launches`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${await platform.tokenOf('host-demo')}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify(
      launchBody({
        clientId: 'partner-standard',
        patient: getPatient('record-2'),
        authorizations: ['clinical-cr.read'],
      }),
    ),
  });
  expect(response.status).toBe(201);
  const { launchUrl } = (await response.json()) as { launchUrl: string };
  return new URL(launchUrl).searchParams;
}

type Outcome = {
  error?: string;
  tokens?: { access_token: string; token_type: string; scope: string };
  resource?: object;
  idToken?: { familyName: string; authorizationDetails: string };
};

it('fhirclient starts from iss and launch, receives a token and the context, and reads the resource', async () => {
  const page = await chromium.newPage();
  await page.goto(`http://127.0.0.1:${application.port}/launch?${(await requestLaunch()).toString()}`);
  await page.waitForURL(/\/callback/);
  const found = await page.waitForFunction(() => (globalThis as { outcome?: unknown }).outcome);
  const { error, tokens, idToken, resource } = (await found.jsonValue()) as Outcome;
  expect([error, tokens?.token_type]).toEqual([undefined, 'Bearer']);
  // The library decodes with `atob`, which would change unescaped names that are not ASCII.
  expect(JSON.parse(idToken?.authorizationDetails ?? '')).toMatchObject([{ surname: 'Ó Súilleabháin' }]);

  expect(resource).toMatchObject({ surname: 'Ó Súilleabháin', dob: '03-Nov-1987' });
  await page.close();
});
