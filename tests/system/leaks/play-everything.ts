import { randomBytes, randomUUID } from 'node:crypto';
import { actions, buildServiceRequest, createPkcePair, createPmsClient } from '@clinical-launch/pms-client';
import { launchBody } from '@clinical-launch/simulators/host/desktop-launch';
import { readPlatformNames } from '@clinical-launch/simulators/platform-names';
import { Browser } from '@clinical-launch/simulators/play/browser';
import { playDesktopLaunch } from '@clinical-launch/simulators/play/desktop-launch';
import { playOltrLaunch } from '@clinical-launch/simulators/play/oltr-launch';
import type { Patient } from '@clinical-launch/simulators/records';
import { aHiddenOrder } from './hidden-people.ts';

type Order = ReturnType<typeof aHiddenOrder>;

/** Plays both launches, all eight actions and every kind of refusal, all for one patient. */
export async function playEverything(baseUrl: string, patient: Patient, order: Order): Promise<void> {
  const played = { baseUrl, ...readPlatformNames({}) };
  await playOltrLaunch(played, order);
  await playDesktopLaunch(played, patient);
  await playActions(baseUrl, order);
  await playRefusals(baseUrl, patient, order);
}

async function playActions(baseUrl: string, order: Order): Promise<void> {
  const { scope, namespaces } = readPlatformNames({});
  const pms = createPmsClient({
    baseUrl,
    tokenUrl: `${baseUrl}/idp/demo/oauth2/v2.0/token`,
    scope,
    clientId: 'pms-demo',
    clientSecret: 'pms-demo-secret',
  });
  for (const action of actions) {
    const isOfRequest = ['UpdateTest', 'PatientSampleQueue', 'PatientReport'].includes(action);
    const originatingId = isOfRequest ? order.originatingId : `leaks-${randomUUID()}`;
    const launch = await pms.requestLaunch(
      buildServiceRequest({ ...order, action, originatingId }, namespaces),
    );
    const browser = new Browser();
    const page = await browser.open(launch.url);
    if (page.status !== 200) throw new Error(`${action} was answered ${page.status}`);
    const home = /^.*\/oltr\/[0-9a-f-]{36}\//.exec(page.url)?.[0] ?? '';
    // Searches for a patient and for tests, because the service stores the search words. Also opens a missing
    // page.
    await browser.open(`${home}requests`, new URLSearchParams({ q: order.patient.name.family }));
    await browser.open(home, new URLSearchParams({ q: order.patient.name.family, action: 'search' }));
    await browser.open(`${home}requests/${randomUUID()}`);
  }
}

const d = '/idp/demo/desktop';

async function playRefusals(baseUrl: string, patient: Patient, order: Order): Promise<void> {
  const form = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams(fields);
    const response = await fetch(baseUrl + path, { method: 'POST', body, headers, redirect: 'manual' });
    return { status: response.status, text: await response.text() };
  };
  const { scope, namespaces } = readPlatformNames({});
  const tokenOf = async (client: string) => {
    const credentials = { client_id: client, client_secret: `${client}-secret`, scope };
    const { text } = await form('/idp/demo/oauth2/v2.0/token', {
      grant_type: 'client_credentials',
      ...credentials,
    });
    return String(JSON.parse(text).access_token);
  };
  const request = async (path: string, token: string, body: string, more: Record<string, string> = {}) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...more };
    const response = await fetch(baseUrl + path, { method: 'POST', headers, body, redirect: 'manual' });
    return { status: response.status, text: await response.text() };
  };
  const expectStatus = (wanted: number, { status, text }: { status: number; text: string }) => {
    if (status !== wanted) throw new Error(`Expected ${wanted}, but the answer was ${status}: ${text}`);
  };

  const launchPath = '/AccessApi/RequestLaunchUrl';
  const valid = buildServiceRequest({ ...order, originatingId: `leaks-${randomUUID()}` }, namespaces);
  const payload = JSON.stringify(valid);
  const { family } = order.patient.name;
  const { codeChallenge, codeVerifier } = createPkcePair();
  const challenge = { 'Code-Challenge': codeChallenge };
  const pms = await tokenOf('pms-demo');
  // Sends requests for launch URLs that are answered 401, 403, 400 for several reasons, 409, 413, 415 and
  // 429.
  expectStatus(401, await request(launchPath, `${pms}x`, payload, challenge));
  expectStatus(403, await request(launchPath, await tokenOf('pms-noscope'), payload, challenge));
  expectStatus(400, await request(launchPath, pms, payload, {}));
  expectStatus(
    400,
    await request(launchPath, pms, payload.replaceAll(order.patient.birthDate, family), challenge),
  );
  expectStatus(400, await request(launchPath, pms, payload.replace('"Patient"', `"${family}"`), challenge));
  expectStatus(400, await request(launchPath, pms, `${payload.slice(0, -1)},"${family}":`, challenge));
  expectStatus(
    400,
    await request('/AccessApi/Validate', pms, payload.replaceAll('female', family), challenge),
  );
  const large = JSON.stringify({ ...valid, note: family.repeat(40_000) });
  expectStatus(413, await request(launchPath, pms, large, challenge));
  expectStatus(415, await request(launchPath, pms, payload, { ...challenge, 'Content-Type': 'text/plain' }));
  const issued = await request(launchPath, pms, payload, challenge);
  expectStatus(200, issued);
  expectStatus(409, await request(launchPath, pms, payload, challenge));
  const limited = await tokenOf('pms-limited');
  await Promise.all(Array.from({ length: 12 }, () => request(launchPath, limited, payload, challenge)));
  // Opens launch URLs: 401 for a wrong verifier and for an unknown token, then 200, then 410.
  const open = async (url: string) => {
    const response = await fetch(url, { redirect: 'manual' });
    return { status: response.status, text: await response.text() };
  };
  const { url } = JSON.parse(issued.text) as { url: string };
  expectStatus(401, await open(`${url}&codeVerifier=${createPkcePair().codeVerifier}`));
  expectStatus(
    401,
    await open(
      `${url.replace(/launchToken=[^&]+/, `launchToken=${randomBytes(48).toString('base64url')}`)}&codeVerifier=${codeVerifier}`,
    ),
  );
  expectStatus(200, await open(`${url}&codeVerifier=${codeVerifier}`));
  expectStatus(410, await open(`${url}&codeVerifier=${codeVerifier}`));
  // Requests tokens with a wrong secret, a wrong scope and an unsupported grant type.
  const client = { client_id: 'pms-demo', client_secret: randomBytes(32).toString('base64url') };
  expectStatus(
    401,
    await form('/idp/demo/oauth2/v2.0/token', { grant_type: 'client_credentials', ...client, scope }),
  );
  expectStatus(400, await form('/idp/demo/oauth2/v2.0/token', { grant_type: family, ...client, scope }));
  // Requests desktop launches without the required right and with an unknown member. Then issues a launch,
  // and sends requests of its partner that are refused.
  const wanted = launchBody({ clientId: 'partner-demo', patient, authorizations: ['clinical-cr.read'] });
  const host = await tokenOf('host-demo');
  expectStatus(403, await request(`${d}/launches`, pms, JSON.stringify(wanted)));
  const invalid = JSON.stringify({ ...wanted, [family]: family });
  expectStatus(400, await request(`${d}/launches`, host, invalid));
  const launches = await request(`${d}/launches`, host, JSON.stringify(wanted));
  expectStatus(201, launches);
  const { launch } = JSON.parse(launches.text) as { launch: string };
  const authorize = {
    client_id: 'partner-demo',
    response_type: 'code',
    response_mode: 'query',
    redirect_uri: `${baseUrl}/demo/partner/callback`,
    scope: 'openid launch resource.read',
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
    state: randomUUID(),
    launch,
  };
  expectStatus(
    400,
    await form(`${d}/oauth2/v2.0/authorize`, { ...authorize, redirect_uri: `https://${family}.example` }),
  );
  expectStatus(
    400,
    await form(`${d}/oauth2/v2.0/authorize`, { ...authorize, launch: randomBytes(32).toString('base64url') }),
  );
  const exchange = { grant_type: 'authorization_code', client_id: 'partner-demo', scope: authorize.scope };
  const code = randomBytes(32).toString('base64url');
  const tried = { ...exchange, code, redirect_uri: authorize.redirect_uri, code_verifier: codeVerifier };
  expectStatus(400, await form(`${d}/oauth2/v2.0/token`, tried));
  const refresh_token = randomBytes(48).toString('base64url');
  expectStatus(
    400,
    await form(`${d}/oauth2/v2.0/token`, { ...exchange, grant_type: 'refresh_token', refresh_token }),
  );
  // Reads with an invalid token, and as a client without the required right.
  const resources = ['/resource/patient', '/resource/me', '/idp/demo/desktop/v2.0/Patient/unknown'];
  for (const path of [...resources, `/audit/events?correlationId=${randomUUID()}`]) {
    for (const token of [`${pms}x`, pms, host]) {
      const response = await fetch(baseUrl + path, { headers: { Authorization: `Bearer ${token}` } });
      await response.text();
      if (response.status !== 401 && response.status !== 403) throw new Error(`${path}: ${response.status}`);
    }
  }
}
