import { readFileSync } from 'node:fs';
import { listen, type RunningServer } from '@clinical-launch/http/server';
import { launchBody } from '@clinical-launch/simulators/host/desktop-launch';
import { getPatient } from '@clinical-launch/simulators/records';
import { startChromium } from '@clinical-launch/testing/chromium';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startPlatformForTest } from './running-platform.ts';

const library = readFileSync(new URL(import.meta.resolve('fhirclient/build/fhir-client.js')));

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
let chromium: Browser;
let application: RunningServer;
beforeAll(async () => {
  [platform, chromium] = await Promise.all([
    startPlatformForTest({ changeRegistry: withSecondPartner }),
    startChromium(),
  ]);
  application = await startApplication();
});
afterAll(async () => {
  await chromium.close();
  await application.stop();
  await platform.stop();
});

/** Adds a second partner application with the same registration as the first. */
function withSecondPartner(text: string): string {
  const registry = JSON.parse(text);
  const partners: { clientId: string }[] = registry.realms[1].desktop.partners;
  const first = partners.find(({ clientId }) => clientId === 'partner-standard');
  partners.push({ ...first, clientId: 'partner-second' });
  return JSON.stringify(registry);
}

/**
 * Starts a browser-based application as in the README of fhirclient, with a launch page and a callback page.
 */
function startApplication(): Promise<RunningServer> {
  const pages: Readonly<Record<string, string>> = {
    '/launch': `FHIR.oauth2.authorize({
      clientId: new URLSearchParams(location.search).get('client'),
      scope: 'openid fhirUser launch patient/*.rs offline_access authorization_details',
      redirectUri: '/callback',
    })`,
    '/callback': `FHIR.oauth2.ready().then(
      (client) => { window.client = client; window.outcome = {} },
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

type Wanted = { readonly clientId?: string; readonly record?: string; readonly authorizations?: string[] };

/**
 * Requests a launch as the host application does. Returns the query of the launch URL, and the GUID of the
 * launch.
 */
async function requestLaunch({ clientId = 'partner-standard', record = 'record-2', ...wanted }: Wanted) {
  const response = await fetch(`${platform.url}/idp/demo/desktop/launches`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${await platform.tokenOf('host-demo')}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify(
      launchBody({
        clientId,
        patient: getPatient(record),
        authorizations: wanted.authorizations ?? ['clinical-cr.read'],
      }),
    ),
  });
  expect(response.status).toBe(201);
  const { launchUrl } = (await response.json()) as { launchUrl: string };
  const query = new URL(launchUrl).searchParams;
  query.set('client', clientId);
  return { query, launchId: response.headers.get('x-correlation-id') ?? '' };
}

/** The members of the library's client that the tests use. */
type SmartClient = {
  readonly patient: { readonly id: string; read(): Promise<object> };
  readonly user: { read(): Promise<object> };
  readonly state: { readonly tokenResponse: Record<string, unknown> };
  getIdToken(): Record<string, unknown>;
  request(url: string): Promise<object>;
  refresh(): Promise<unknown>;
};
/** The global variable of the callback page. It exists only in functions that run on that page. */
declare const client: SmartClient;

/** Launches the application. Returns the page on which the library's client is ready, as `client`. */
async function launch(wanted: Wanted = {}) {
  const { query, launchId } = await requestLaunch(wanted);
  const page = await chromium.newPage();
  await page.goto(`http://127.0.0.1:${application.port}/launch?${query.toString()}`);
  await page.waitForURL(/\/callback/);
  const found = await page.waitForFunction(() => (globalThis as { outcome?: unknown }).outcome);
  expect(await found.jsonValue()).toEqual({});
  /** Returns the resource that the library reads, or the status if the read fails. */
  const read = (url: string) =>
    page.evaluate(
      (address) => client.request(address).catch((error: { status?: number }) => ({ status: error.status })),
      url,
    );
  return { page, launchId, read };
}

describe('fhirclient', () => {
  it('starts from iss and launch, and reads the patient, the user and the organisation of the launch', async () => {
    const { page, read } = await launch();
    const [tokens, idToken, patient, user] = await page.evaluate(async () => [
      client.state.tokenResponse,
      client.getIdToken(),
      await client.patient.read(),
      await client.user.read(),
    ]);
    expect(tokens).toMatchObject({ token_type: 'Bearer', need_patient_banner: true });
    expect(patient).toMatchObject({
      resourceType: 'Patient',
      id: tokens['patient'],
      name: [{ family: 'Ó Súilleabháin' }],
      birthDate: '1987-11-03',
    });
    expect(user).toMatchObject({ resourceType: 'Practitioner', name: [{ family: idToken['familyName'] }] });
    const [{ reference }] = tokens['fhirContext'] as [{ reference: string }];
    expect(await read(reference)).toMatchObject({ resourceType: 'Organization', name: idToken['orgName'] });
    // The library decodes with `atob`, which would change unescaped names that are not ASCII.
    expect(idToken['authorization_details']).toMatchObject([{ surname: 'Ó Súilleabháin' }]);
    expect(JSON.parse(String(idToken['authorizationDetails']))).toEqual(idToken['authorization_details']);
    await page.close();
  });

  it('reads the same patient after a refresh, and can still read the resource API', async () => {
    const { page, read } = await launch();
    const [before, after] = await page.evaluate(async () => {
      const { id } = client.patient;
      await client.refresh();
      return [id, client.patient.id];
    });
    expect([after, await read(`Patient/${after}`)]).toEqual([
      before,
      expect.objectContaining({ id: before }),
    ]);
    expect(await read(`${platform.url}/resource/patient`)).toMatchObject({ dob: '03-Nov-1987' });
    await page.close();
  });

  it('reads no other patient of its partner, and no patient by the id that another partner received', async () => {
    const [own, other, foreign] = await Promise.all([
      launch(),
      launch({ record: 'record-1' }),
      launch({ clientId: 'partner-second' }),
    ]);
    const idOf = ({ page }: typeof own) => page.evaluate(() => client.patient.id);
    const [ownId, otherId, foreignId] = await Promise.all([own, other, foreign].map(idOf));
    expect(new Set([ownId, otherId, foreignId]).size).toBe(3);
    for (const id of [otherId, foreignId, getPatient('record-2').guid])
      expect(await own.read(`Patient/${id}`)).toEqual({ status: 404 });
    expect(await own.read(`Patient/${ownId}`)).toMatchObject({ id: ownId });
    await Promise.all([own, other, foreign].map(({ page }) => page.close()));
  });

  it('reads no patient without the permission of the user, and nothing of an ended launch', async () => {
    const { page, read, launchId } = await launch({ authorizations: ['agmt-agmt.read'] });
    const id = await page.evaluate(() => client.patient.id);
    expect(await read(`Patient/${id}`)).toEqual({ status: 403 });
    const ended = await fetch(`${platform.url}/idp/demo/desktop/launches/${launchId}`, {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${await platform.tokenOf('host-demo')}` },
    });
    expect(ended.status).toBe(204);
    await until(async () => {
      const answer = (await read(`Patient/${id}`)) as { status?: number };
      return answer.status === 401;
    });
    await page.close();
  });

  it('reads the same addresses in the capability statement and in the SMART configuration', async () => {
    const issuer = `${platform.url}/idp/demo/desktop/v2.0`;
    const read = async (path: string) => JSON.parse(await (await fetch(`${issuer}/${path}`)).text());
    const configuration = await read('.well-known/smart-configuration');
    const [{ security }] = (await read('metadata')).rest;
    const [{ extension }] = security.extension;
    const found = Object.fromEntries(
      extension.map(({ url, valueUri }: Record<string, string>) => [url, valueUri]),
    );
    expect(found).toEqual({
      authorize: configuration.authorization_endpoint,
      token: configuration.token_endpoint,
      revoke: configuration.revocation_endpoint,
      introspect: configuration.introspection_endpoint,
    });
  });
});
