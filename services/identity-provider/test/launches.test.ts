import { text } from 'node:stream/consumers';
import { listen } from '@clinical-launch/http/server';
import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { startTokenIssuer } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  aLaunch,
  aPartner,
  aPatient,
  desktopRealms,
  type RunningDesktop,
  realm,
  refusalOf,
  refused,
  runDesktop,
} from './running-desktop.ts';
import { aClient, record } from './running-identity-provider.ts';

const clock = new TestClock();

/** Starts a partner's launch endpoint, which records requests and answers with a status for each path. */
async function startLaunchHandler() {
  const asked: { method: string | undefined; url: string | undefined; body: string }[] = [];
  const answers: Record<string, number> = { '/launch': 200, '/moved': 302, '/broken': 500 };
  const server = await listen(
    async (request, response) => {
      const { method, url = '' } = request;
      asked.push({ method, url, body: await text(request) });
      const status = answers[url.split('?', 1)[0] ?? ''] ?? 404;
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('<html></html>');
    },
    { port: 0, host: '127.0.0.1' },
  );
  return { asked, base: `http://127.0.0.1:${server.port}`, stop: () => server.stop() };
}

async function closedPort(): Promise<number> {
  const server = await listen((_request, response) => response.end(), { port: 0, host: '127.0.0.1' });
  await server.stop();
  return server.port;
}

let storage: Storage;
let handler: Awaited<ReturnType<typeof startLaunchHandler>>;
let stranger: Awaited<ReturnType<typeof startTokenIssuer>>;
let running: RunningDesktop;
beforeAll(async () => {
  storage = await openTestStorage();
  handler = await startLaunchHandler();
  stranger = await startTokenIssuer({ clock, audience: 'api://clinical-launch' });
  const launchUrls = {
    called: `${handler.base}/launch?tenant=a%20b`,
    moved: `${handler.base}/moved`,
    broken: `${handler.base}/broken`,
    away: `http://127.0.0.1:${await closedPort()}/launch`,
    native: 'partnerapp://launch',
  };
  const partners = Object.entries(launchUrls).map(([clientId, launchUrl]) =>
    aPartner({ clientId, launchUrl }),
  );
  const limited = aClient({ clientId: 'limited', scopes: ['launch.issue'], requestsPerSecond: 1 });
  const sandbox = aClient({ clientId: 'sandbox', scopes: ['launch.issue'], sandbox: true });
  const bound = aClient({
    clientId: 'bound',
    scopes: ['launch.issue'],
    erns: ['ern:North-EHR', 'ern:shared:north'],
    practices: [{ system: 'ods-organization-code', code: 'W92001' }],
  });
  running = await runDesktop({
    clock,
    storage,
    realms: [
      ...desktopRealms(),
      { realm: 'calls/desktop', clients: [], desktop: { partners } },
      { realm: 'limits', clients: [limited] },
      { realm: 'tests', clients: [sandbox] },
      { realm: 'bound', clients: [bound] },
    ],
    trustedIssuers: [{ issuer: stranger.issuer, clients: [{ clientId: 'pms' }] }],
  });
});
afterAll(async () => {
  await running.stop();
  await handler.stop();
  await stranger.stop();
  await storage.close();
});

const answerOf = async (body: unknown, at = realm): Promise<Record<string, unknown>> => {
  const response = await running.postLaunch(body, { at });
  return { status: response.status, ...record(await response.json()) };
};

describe('POST /{seg1}/{seg2}/launches', () => {
  it('returns a launch identifier, its lifetime and the complete launch URL', async () => {
    const response = await running.postLaunch(aLaunch());
    expect(response.status).toBe(201);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { launch, launchUrl, ...rest } = record(await response.json());
    expect(rest).toEqual({ expires_in: 300 });
    expect(launch).toMatch(/^[\w-]{89}$/);
    const url = new URL(String(launchUrl));
    expect(url.origin + url.pathname).toBe('https://partner.example/launch');
    expect([...url.searchParams]).toEqual([
      ['iss', running.issuer(realm)],
      ['launch', launch],
    ]);
  });

  it('leaves the query of the registered launchUrl unchanged', async () => {
    const { launchUrl, launch } = await answerOf(aLaunch({ client_id: 'called' }), 'calls/desktop');
    const iss = encodeURIComponent(running.issuer('calls/desktop'));
    expect(launchUrl).toBe(`${handler.base}/launch?tenant=a%20b&iss=${iss}&launch=${String(launch)}`);
    const native = await answerOf(aLaunch({ client_id: 'native' }), 'calls/desktop');
    expect(native.launchUrl).toBe(`partnerapp://launch?iss=${iss}&launch=${String(native.launch)}`);
  });

  it.each([
    ['no token', undefined, 401, 'invalid_token'],
    ['a token without the right', 'pms-north', 403, 'insufficient_scope'],
  ])('refuses a request with %s', async (_what, clientId, status, error) => {
    const token = clientId === undefined ? 'none' : await running.hostToken(clientId);
    const response = await running.postLaunch(aLaunch(), { token });
    expect(await refusalOf(response)).toEqual(refused(error, status));
    expect(response.headers.get('www-authenticate')).toContain(error);
  });

  it('refuses a token of another issuer, even if the registry trusts this issuer', async () => {
    const token = await stranger.sign({ claims: { scope: 'launch.issue', roles: ['launch.issue'] } });
    const response = await running.postLaunch(aLaunch(), { token });
    expect(await refusalOf(response)).toEqual(refused('insufficient_scope', 403));
  });

  it("refuses a partner's own access token", async () => {
    const { accessToken } = await running.tokensFor();
    const response = await running.postLaunch(aLaunch(), { token: accessToken });
    expect(response.status).toBe(401);
  });

  it('answers 429 to a host application over its rate limit', async () => {
    const token = String((await running.idp.token('limits', { client_id: 'limited' })).access_token);
    clock.advance({ seconds: 2 });
    expect((await running.postLaunch(aLaunch(), { token })).status).toBe(201);
    expect((await running.postLaunch(aLaunch(), { token })).status).toBe(429);
  });

  it.each(['north', 'nowhere/desktop'])(
    'answers 404 in the realm %s, which has no partner applications',
    async (at) => {
      expect(await answerOf(aLaunch(), at)).toMatchObject({ status: 404, error: 'not_found' });
    },
  );

  it('answers 405 to other methods', async () => {
    const response = await running.idp.get(`/${realm}/launches`);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });
});

describe('an invalid launch request', () => {
  it('is refused with the paths of all invalid fields, without their values', async () => {
    const { familyName: _name, ...user } = aLaunch().user;
    const body = {
      ...aLaunch({ client_id: 'a-stranger', authorizations: ['everything'], extra: 'Bhriain' }),
      user: { ...user, userERN: 'Bhriain' },
      patient: aPatient({
        dob: '29-Feb-1961',
        'patient-identifiers': [{ identifierType: 'NHS Number', identifierValue: '1' }],
      }),
      call: 'yes',
    };
    const { status, error, errors, correlation_id } = await answerOf(body);
    expect({ status, error }).toEqual({ status: 400, error: 'invalid_request' });
    expect(correlation_id).toMatch(/^[0-9a-f-]{36}$/);
    const paths = (errors as { path: string }[]).map(({ path }) => path);
    expect(paths.toSorted()).toEqual([
      '',
      'authorizations[0]',
      'call',
      'client_id',
      'patient.dob',
      'patient.patient-identifiers[0].identifierValue',
      'user.familyName',
      'user.userERN',
    ]);
    expect(JSON.stringify(errors)).not.toMatch(/Bhriain|a-stranger|1961/);
    const event = running.published.findLast(({ type }) => type === 'desktop.launch.refused.v1');
    expect(event?.correlationid).toBe(correlation_id);
    expect(event?.data).toMatchObject({ step: 'launches', status: 400, hostClientId: 'host', paths });
  });

  it('is refused with * in the path instead of the name of an unknown member', async () => {
    const details = [
      { 'Margaret Whitfield 9434765919': 7 },
      { '9434765919': 7 },
      { ['k'.repeat(500)]: 7 },
      { 'a\0b': 7 },
    ];
    const { status, errors } = await answerOf(aLaunch({ patient: aPatient({ 'contact-details': details }) }));
    const paths = details.map((_, index) => `patient.contact-details[${index}].*`);
    expect(status).toBe(400);
    expect((errors as { path: string }[]).map(({ path }) => path)).toEqual(paths);
    const event = running.published.findLast(({ type }) => type === 'desktop.launch.refused.v1');
    expect(event?.data).toMatchObject({ paths });
    const reported = JSON.stringify([errors, running.published, running.lines]);
    expect(reported).not.toMatch(/Whitfield|9434765919|kkkk|a\\+u0000b/);
  });

  it('is refused with at most 200 errors, the limit of the audit event', async () => {
    const authorizations = Array.from({ length: 200 }, (_, index) => `x${index}`);
    const { errors } = await answerOf({
      ...aLaunch({ authorizations }),
      call: true,
      client_id: 'a-stranger',
    });
    expect(errors).toHaveLength(200);
    const event = running.published.findLast(({ type }) => type === 'desktop.launch.refused.v1');
    expect(event?.data).toMatchObject({ paths: expect.arrayContaining(['authorizations[199]']) });
  });

  it.each(['', '[]', 'null', '"text"', '{"client_id":"partner","client_id":"partner"}', '{'])(
    'is refused if its body is %j',
    async (body) => {
      expect(await answerOf(body)).toMatchObject({ status: 400, error: 'invalid_request' });
    },
  );

  it('is refused if its client_id is an object', async () => {
    const { status, errors } = await answerOf(aLaunch({ client_id: { toString: 1, valueOf: 1 } }));
    expect([status, errors]).toEqual([400, [expect.objectContaining({ path: 'client_id' })]]);
  });

  it('is answered with 413 if it is too large', async () => {
    expect((await running.postLaunch(aLaunch({ more: 'x'.repeat(33_000) }))).status).toBe(413);
  });

  it('is refused if it does not fit into an access token', async () => {
    const patient = aPatient({
      'address-details': Array.from({ length: 10 }, () => ({ addressLine1: 'é'.repeat(250) })),
    });
    const { errors } = await answerOf(aLaunch({ patient }));
    expect(errors).toEqual([
      { path: 'patient', message: expect.stringContaining('at most 5000 bytes'), code: 'too-long' },
    ]);
  });
});

describe('a launch request of a sandbox host application', () => {
  type Identifier = { readonly identifierType: unknown; readonly identifierValue: unknown };
  const launchFor = async (...identifiers: Identifier[]): Promise<Record<string, unknown>> => {
    const token = String((await running.idp.token('tests', { client_id: 'sandbox' })).access_token);
    const patient = aPatient({ 'patient-identifiers': identifiers });
    const response = await running.postLaunch(aLaunch({ patient }), { token });
    return { status: response.status, ...record(await response.json()) };
  };
  const anNhsNumber = (identifierValue: unknown, identifierType = 'NHS Number') => ({
    identifierType,
    identifierValue,
  });
  const local = { identifierType: 'EHR Partner ID', identifierValue: '90210' };

  it.each([
    ['an NHS number that begins with 999', [anNhsNumber('999 000 0018')]],
    ['no NHS number', [local]],
  ])('is accepted with %s', async (_what, identifiers) => {
    expect((await launchFor(...identifiers)).status).toBe(201);
  });

  it('is refused with one error for each NHS number that does not begin with 999', async () => {
    const { status, errors } = await launchFor(
      local,
      anNhsNumber('9434765919'),
      anNhsNumber('9990000018'),
      anNhsNumber('943 476 5919', 'nhs number'),
    );
    const message = 'must begin with 999, because this client takes synthetic patients only';
    expect(status).toBe(400);
    expect(errors).toEqual(
      [1, 3].map((at) => ({
        path: `patient.patient-identifiers[${at}].identifierValue`,
        message,
        code: 'business-rule',
      })),
    );
    const event = running.published.findLast(({ type }) => type === 'desktop.launch.refused.v1');
    expect(event?.data).toMatchObject({ hostClientId: 'sandbox', codes: ['business-rule', 'business-rule'] });
  });

  it.each([9434765919, '', null])('is refused with one error if the NHS number is %j', async (value) => {
    expect((await launchFor(anNhsNumber(value))).errors).toHaveLength(1);
  });

  it('is answered 400 if the type or the value of an identifier cannot be converted to a string', async () => {
    const value = { toString: 1, valueOf: 1 };
    expect((await launchFor({ identifierType: value, identifierValue: value })).status).toBe(400);
  });
});

describe('a host application that is bound to practices and prefixes of ERNs', () => {
  const launchFor = async (userERN: string, orgERN: string, ods = 'W92001') => {
    const token = String((await running.idp.token('bound', { client_id: 'bound' })).access_token);
    const { user, organisation } = aLaunch();
    const body = aLaunch({ user: { ...user, userERN }, organisation: { ...organisation, orgERN, ods } });
    const response = await running.postLaunch(body, { token });
    return { status: response.status, ...record(await response.json()) };
  };

  it.each([
    ['ern:north-ehr:user:1', 'ern:shared:north:org:1', 'W92001'],
    ['ern:SHARED:north:1', 'ern:north-ehr:1', 'w92001'],
  ])('launches for the user %s of the organisation %s', async (userERN, orgERN, ods) => {
    expect((await launchFor(userERN, orgERN, ods)).status).toBe(201);
  });

  it.each([
    ['user.userERN', 'ern:south-ehr:user:1', 'ern:north-ehr:org:1', 'W92001'],
    ['user.userERN', 'ern:north-ehr-2:user:1', 'ern:north-ehr:org:1', 'W92001'],
    ['user.userERN', 'ern:shared:south:1', 'ern:north-ehr:org:1', 'W92001'],
    ['organisation.orgERN', 'ern:north-ehr:user:1', 'ern:south-ehr:org:1', 'W92001'],
    ['organisation.ods', 'ern:north-ehr:user:1', 'ern:north-ehr:org:1', 'W92002'],
  ])('is refused with the path %s for %s, %s, %s of another host', async (path, userERN, orgERN, ods) => {
    const message = 'is not registered for this host application. Ask the operator to add it';
    expect(await launchFor(userERN, orgERN, ods)).toMatchObject({
      status: 400,
      errors: [{ path, message, code: 'business-rule' }],
    });
  });
});

describe('a launch URL that the service itself calls', () => {
  const launchOf = (client_id: string) => answerOf(aLaunch({ client_id, call: true }), 'calls/desktop');

  it('is called once by GET with iss and launch, without a body', async () => {
    handler.asked.length = 0;
    const { called, launchUrl } = await launchOf('called');
    expect(called).toBe(true);
    const url = String(launchUrl).slice(handler.base.length);
    expect(handler.asked).toEqual([{ method: 'GET', url, body: '' }]);
    const event = running.published.findLast(({ type }) => type === 'desktop.launch.issued.v1');
    expect(event?.data).toMatchObject({ opens: 'service' });
  });

  it('is called without following redirects', async () => {
    handler.asked.length = 0;
    expect((await launchOf('moved')).called).toBe(true);
    expect(handler.asked.map(({ url }) => url?.split('?', 1)[0])).toEqual(['/moved']);
  });

  it.each(['broken', 'away'])(
    'is reported as not called if the partner %s does not accept the call, and is still returned to the host',
    async (partner) => {
      const { status, called, launch, launchUrl } = await launchOf(partner);
      expect({ status, called }).toEqual({ status: 201, called: false });
      expect(launchUrl).toContain(`launch=${String(launch)}`);
    },
  );

  it('is not called in a network that the operator has not allowed', async () => {
    handler.asked.length = 0;
    const partners = [aPartner({ clientId: 'called', launchUrl: `${handler.base}/launch` })];
    const guarded = await runDesktop({
      clock,
      storage,
      realms: [...desktopRealms(), { realm: 'calls/desktop', clients: [], desktop: { partners } }],
      allowedNetworks: [],
    });
    const launch = aLaunch({ client_id: 'called', call: true });
    const response = await guarded.postLaunch(launch, { at: 'calls/desktop' });
    const { called } = record(await response.json());
    await guarded.stop();
    expect([response.status, called, handler.asked]).toEqual([201, false, []]);
  });

  it('is not called unless the host requests it', async () => {
    handler.asked.length = 0;
    for (const call of [{}, { call: false }]) {
      const answer = await answerOf(aLaunch({ client_id: 'called', ...call }), 'calls/desktop');
      expect(answer).not.toHaveProperty('called');
    }
    expect(handler.asked).toEqual([]);
  });

  it('is refused in production unless it is an https address', async () => {
    handler.asked.length = 0;
    const partners = [aPartner({ clientId: 'called', launchUrl: `${handler.base}/launch` })];
    const host = aClient({ clientId: 'host', scopes: ['launch.issue'], erns: 'any' });
    const hosts = { realm: 'north', clients: [host] };
    const production = await runDesktop({
      clock,
      storage,
      realms: [hosts, { realm: 'calls/desktop', clients: [], desktop: { partners } }],
      isProduction: true,
    });
    const launch = aLaunch({ client_id: 'called', call: true });
    const response = await production.postLaunch(launch, { at: 'calls/desktop' });
    const { errors } = record(await response.json());
    await production.stop();
    expect(response.status).toBe(400);
    expect(errors).toEqual([{ path: 'call', message: expect.any(String), code: 'not-supported' }]);
    expect(handler.asked).toEqual([]);
  });

  it('is refused with a custom scheme, which only the user’s computer can open', async () => {
    const { status, errors } = await launchOf('native');
    expect(status).toBe(400);
    expect(errors).toEqual([{ path: 'call', message: expect.any(String), code: 'not-supported' }]);
  });

  // An unknown member is reported for the body, because the caller chose its name.
  it.each([
    ['launchUrl', ''],
    ['launch_url', ''],
    ['call', 'call'],
    ['client_id', 'client_id'],
    ['redirectUri', ''],
    ['iss', ''],
  ])('cannot be changed by the member %s of the body', async (name, path) => {
    handler.asked.length = 0;
    const address = `${handler.base}/elsewhere`;
    const body = { ...aLaunch({ client_id: 'called', call: true }), [name]: address };
    const { status, errors } = await answerOf(body, 'calls/desktop');
    expect(status).toBe(400);
    expect(errors).toContainEqual(expect.objectContaining({ path }));
    expect(handler.asked).toEqual([]);
  });

  it('cannot be changed by forwarding headers', async () => {
    handler.asked.length = 0;
    const response = await running.idp.get('/calls/desktop/launches', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await running.hostToken()}`,
        'content-type': 'application/json',
        'x-forwarded-host': 'attacker.example',
        'x-forwarded-proto': 'https',
        forwarded: 'host=attacker.example',
      },
      body: JSON.stringify(aLaunch({ client_id: 'called', call: true })),
    });
    const { launchUrl } = record(await response.json());
    expect(launchUrl).not.toContain('attacker');
    expect(handler.asked.map(({ url }) => url)).toEqual([String(launchUrl).slice(handler.base.length)]);
  });
});
