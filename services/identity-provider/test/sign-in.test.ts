import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import {
  aLaunch,
  aPartner,
  authorizeFields,
  aVerifier,
  desktopRealms,
  type Fields,
  type RunningDesktop,
  realm,
  refusalOf,
  refused,
  runDesktop,
  tokensOf,
} from './running-desktop.ts';
import { aClient, record } from './running-identity-provider.ts';

const clock = new TestClock();
const smartcard = 'urn:host:acr:smartcard';
const byHost = 'urn:clinical-launch:acr:launched-by-host';

let storage: Storage;
let running: RunningDesktop;
beforeAll(async () => {
  storage = await openTestStorage();
  const standard = { profile: 'standard' };
  const partners = [
    aPartner(),
    aPartner({ clientId: 'strong', requireAcrValues: true, ...standard }),
    aPartner({ clientId: 'neighbour-partner', requireAcrValues: true, ...standard }),
  ];
  const [hosts = { clients: [] }] = desktopRealms();
  const own = aClient({ clientId: 'own-host', scopes: ['launch.issue'], acrValues: ['AAL2', smartcard] });
  running = await runDesktop({
    clock,
    storage,
    realms: [
      { ...hosts, clients: [...hosts.clients, own] },
      { realm, clients: [], desktop: { partners } },
    ],
  });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

const secondsAgo = (seconds: number) => Math.floor(clock.now() / 1000) - seconds;

/** Requests a launch as a host application. Returns the status and the body of the answer. */
async function launchAs(
  clientId: string,
  members: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const token = await running.hostToken(clientId);
  const response = await running.postLaunch(aLaunch(members), { token });
  return { status: response.status, ...record(await response.json()) };
}

/** Sends an authorization request of a partner application with a launch identifier. */
function authorize(launch: string, fields: Fields) {
  const { challenge } = aVerifier();
  return running.postAuthorize({ ...authorizeFields({ launch, challenge }), ...fields });
}

const lastEvent = (type: string) => running.published.findLast((event) => event.type === type);

describe('the user’s sign-in in a launch request', () => {
  const signIn = () => ({ acr: 'AAL3', amr: ['sc', 'pin', 'mfa'], auth_time: secondsAgo(600) });

  it('is in the ID token, the access token and the introspection of both tokens, also after a refresh', async () => {
    const sent = signIn();
    const launch = await running.launchFor(sent);
    const answer = await running.postToken(await running.codeFor({}, { launch }));
    const first = tokensOf(await answer.json());
    clock.advance({ seconds: 60 });
    const second = tokensOf(await (await running.refresh(first.refreshToken)).json());
    for (const { idToken, accessToken } of [first, second]) {
      expect(decodeJwt(idToken)).toMatchObject(sent);
      expect(decodeJwt(accessToken)).toMatchObject(sent);
      expect(await running.introspect(accessToken)).toMatchObject({ active: true, ...sent });
    }
    expect(await running.introspect(second.refreshToken)).toMatchObject({ active: true, ...sent });
  });

  it('is in the audit event of the launch', async () => {
    const { auth_time: authTime, ...sent } = signIn();
    await running.launchFor({ ...sent, auth_time: authTime });
    expect(lastEvent('desktop.launch.issued.v1')?.data).toMatchObject({ ...sent, authTime });
  });

  it('defaults to the start of the launch and the platform’s own acr, without amr, if the host sends nothing', async () => {
    const startedAt = secondsAgo(0);
    const launch = await running.launchFor();
    clock.advance({ seconds: 20 });
    const answer = await running.postToken(await running.codeFor({}, { launch }));
    const { idToken, accessToken } = tokensOf(await answer.json());
    for (const token of [idToken, accessToken]) {
      expect(decodeJwt(token)).toMatchObject({ acr: byHost, auth_time: startedAt });
      expect(decodeJwt(token)).not.toHaveProperty('amr');
    }
    const { data } = lastEvent('desktop.launch.issued.v1') ?? {};
    expect(Object.keys(data ?? {})).not.toEqual(expect.arrayContaining(['acr']));
  });

  it.each([
    ['acr', 'AAL4', 'code-invalid'],
    ['acr', 'urn:host:acr:smartcard', 'code-invalid'],
    ['acr', byHost, 'code-invalid'],
    ['acr', 'AAL2 AAL3', 'value'],
    ['amr', ['password'], 'code-invalid'],
    ['amr', [], 'required'],
    ['auth_time', '1764060000', 'structure'],
    ['auth_time', 0, 'value'],
  ])('is refused with %s %j', async (member, value, code) => {
    const { status, errors } = await launchAs('host', { [member]: value });
    expect(status).toBe(400);
    expect(errors).toContainEqual(
      expect.objectContaining({ path: expect.stringMatching(new RegExp(`^${member}`)), code }),
    );
  });

  it('is refused if its time is more than a minute in the future', async () => {
    expect((await launchAs('host', { auth_time: secondsAgo(-60) })).status).toBe(201);
    const message = expect.stringMatching(/not milliseconds.*: auth_time \S+, server time \S+Z$/);
    for (const time of [secondsAgo(-61), clock.now()])
      expect(await launchAs('host', { auth_time: time })).toMatchObject({
        status: 400,
        errors: [{ path: 'auth_time', message, code: 'value' }],
      });
  });

  it('may have exactly the values of acr that the registry lists for the host application', async () => {
    expect((await launchAs('own-host', { acr: smartcard })).status).toBe(201);
    expect((await launchAs('own-host', { acr: 'AAL2' })).status).toBe(201);
    expect((await launchAs('own-host', { acr: 'AAL3' })).status).toBe(400);
  });
});

describe('max_age', () => {
  it('is met by a recent sign-in', async () => {
    const launch = await running.launchFor({ auth_time: secondsAgo(900) });
    expect((await authorize(launch, { max_age: '900' })).status).toBe(302);
  });

  it.each([
    ['is exceeded', { auth_time: 901 }, 'sign_in_too_old'],
    ['cannot be checked, because the host sent no time', {}, 'sign_in_time_unknown'],
  ])('causes the error login_required and leaves the launch usable if it %s', async (_when, ago, reason) => {
    const time = 'auth_time' in ago ? { auth_time: secondsAgo(ago.auth_time) } : {};
    const launch = await running.launchFor(time);
    const refusal = await authorize(launch, { max_age: '900' });
    expect(refusal.headers.get('location')).toBeNull();
    expect(await refusalOf(refusal)).toEqual(refused('login_required'));
    const event = lastEvent('desktop.launch.refused.v1');
    expect(event?.data).toMatchObject({ step: 'authorize', reason, clientId: 'partner' });
    expect(event?.correlationid).toBe(lastEvent('desktop.launch.issued.v1')?.correlationid);
    expect((await authorize(launch, {})).status).toBe(302);
  });

  it.each(['-1', '1.5', 'soon', '9999999999'])('is refused with the value %j', async (max_age) => {
    const launch = await running.launchFor({ auth_time: secondsAgo(1) });
    expect(await refusalOf(await authorize(launch, { max_age }))).toEqual(refused('invalid_request'));
  });

  it('is checked when a pushed request is used', async () => {
    const launch = await running.launchFor({ auth_time: secondsAgo(901) });
    const { challenge } = aVerifier();
    const fields = { ...authorizeFields({ launch, challenge }), max_age: '900' };
    const pushed = await running.idp.postForm(`/${realm}/oauth2/v2.0/par`, fields);
    const { request_uri } = record(await pushed.json());
    const refusal = await running.postAuthorize({ client_id: 'partner', request_uri: String(request_uri) });
    expect(await refusalOf(refusal)).toEqual(refused('login_required'));
  });
});

describe('acr_values', () => {
  const client_id = 'strong';

  it.each([
    ['AAL3 AAL2', 'AAL2'],
    [byHost, undefined],
  ])('%s are met by the acr %s', async (acr_values, acr) => {
    const launch = await running.launchFor({ client_id, ...(acr === undefined ? {} : { acr }) });
    expect((await authorize(launch, { client_id, acr_values })).status).toBe(302);
  });

  it.each(['AAL1', undefined])(
    'that the acr %s does not meet cause a refusal for a partner that requires them, and leave the launch usable',
    async (acr) => {
      const launch = await running.launchFor({ client_id, ...(acr === undefined ? {} : { acr }) });
      const refusal = await authorize(launch, { client_id, acr_values: 'AAL3 AAL2' });
      expect(await refusalOf(refusal)).toEqual(refused('unmet_authentication_requirements'));
      expect(lastEvent('desktop.launch.refused.v1')?.data).toMatchObject({ reason: 'acr_unmet' });
      expect((await authorize(launch, { client_id, acr_values: `AAL3 ${acr ?? byHost}` })).status).toBe(302);
    },
  );

  it('are only a preference for a partner that does not require them', async () => {
    const launch = await running.launchFor({ acr: 'AAL1' });
    expect((await authorize(launch, { acr_values: 'AAL3' })).status).toBe(302);
  });

  it('reveal nothing about the launch of another partner', async () => {
    const launch = await running.launchFor({ client_id, acr: 'AAL1' });
    const asked = { client_id: 'neighbour-partner', acr_values: 'AAL3', max_age: '1' };
    expect(await refusalOf(await authorize(launch, asked))).toEqual(refused('invalid_request'));
    expect(lastEvent('desktop.launch.refused.v1')?.data).toMatchObject({ reason: 'launch_of_other_client' });
  });
});

it('the discovery document lists every value of acr that a host application may send', async () => {
  const document = await running.idp.get(`/${realm}/v2.0/.well-known/openid-configuration`);
  expect(record(await document.json())).toMatchObject({
    acr_values_supported: expect.arrayContaining([byHost, 'AAL1', 'AAL2', 'AAL3', smartcard]),
    claims_supported: expect.arrayContaining(['acr', 'amr', 'auth_time']),
  });
});
