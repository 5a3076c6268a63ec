import { hash, randomUUID } from 'node:crypto';
import { createPkcePair } from '@clinical-launch/pms-client';
import { launchBody } from '@clinical-launch/simulators/host/desktop-launch';
import { getPatient } from '@clinical-launch/simulators/records';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { createTestKey, type TestKey } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { guidOf, requestLaunch } from './audit-launches.ts';
import { createAuthority } from './edge/client-certificates.ts';
import { startPlatformForTest } from './running-platform.ts';

const authority = createAuthority();
const certificate = authority.make('partner', { dnsName: 'partner.example.org', by: 'itself' });
const redirectUris = ['https://partner.example/callback'];
const scopes = ['openid', 'launch', 'resource.read'];
const aPartner = (clientId: string, more: object) => ({
  clientId,
  name: clientId,
  redirectUris,
  launchUrl: 'https://partner.example/launch',
  scopes,
  ...more,
});

let key: TestKey;
let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  key = await createTestKey('key-1');
  const jwks = { keys: [key.publicJwk] };
  platform = await startPlatformForTest({
    changeRegistry(text) {
      const registry = JSON.parse(text);
      const [demo, desktop] = registry.realms;
      const sha256 = hash('sha256', 'resource-server-secret', 'hex');
      demo.clients.push(
        { clientId: 'with-keys', name: 'A client with keys', secrets: [], jwks, scopes: [] },
        {
          clientId: 'resource-server',
          name: 'A resource server',
          secrets: [{ sha256 }],
          scopes: ['token.introspect'],
        },
      );
      desktop.desktop.partners.push(
        aPartner('partner-with-keys', { jwks }),
        aPartner('partner-with-limit', {
          requestsPerSecond: 1,
          tlsClientCertificateThumbprints: [certificate.thumbprint],
        }),
        aPartner('partner-with-certificate', {
          tlsClientCertificateThumbprints: [certificate.thumbprint],
        }),
      );
      return JSON.stringify(registry);
    },
    // An address exceeds its limit after one refusal, and the fixed clock never ends a window.
    clock: new TestClock(Date.now()),
    environment: {
      CLIENT_CERTIFICATE_HEADER: 'Client-Cert',
      REFUSALS_PER_ADDRESS: '1',
    },
    logLevel: 'error',
  });
});
afterAll(async () => {
  await platform.stop();
  authority.remove();
});

type Sent = {
  readonly method?: string;
  readonly token?: string;
  readonly json?: object;
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
};

const send = (path: string, { method = 'POST', token, json, form, headers = {} }: Sent) =>
  fetch(`${platform.url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...headers,
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });

const [clients, partners] = ['/idp/demo', '/idp/demo/desktop'];
const oauth = '/oauth2/v2.0';
const scope = 'api://clinical-launch/.default';

/** Returns the form fields of a client assertion, with which a client or partner authenticates once. */
async function assertion(clientId: string, realm: string) {
  const now = Math.floor(Date.now() / 1000);
  const signed = await new SignJWT({ iss: clientId, sub: clientId, jti: randomUUID(), exp: now + 60 })
    .setAudience(`${platform.url}${realm}${oauth}/token`)
    .setProtectedHeader({ alg: 'ES256', kid: key.kid })
    .sign(key.privateKey);
  return {
    client_id: clientId,
    client_assertion: signed,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  };
}

const byKeys =
  (path: string, form: Readonly<Record<string, string>>, realm = partners) =>
  async () =>
    send(realm + oauth + path, {
      form: { ...form, ...(await assertion(realm === partners ? 'partner-with-keys' : 'with-keys', realm)) },
    });
const byCertificate = (path: string, form: Readonly<Record<string, string>>) => () =>
  send(partners + oauth + path, {
    form: { client_id: 'partner-with-certificate', ...form },
    headers: { 'Client-Cert': certificate.header },
  });
const bySecret = (path: string, form: Readonly<Record<string, string>>, clientId = 'pms-demo') =>
  send(clients + oauth + path, {
    form: { client_id: clientId, client_secret: `${clientId}-secret`, ...form },
  });

const aLaunch = (clientId: string) =>
  launchBody({ clientId, patient: getPatient(null), authorizations: ['agmt-agmt.read'] });
const host = () => platform.tokenOf('host-demo');

/** Returns the form fields of a pushed authorization request with an unknown launch. */
const unknownPush = () => ({
  response_type: 'code',
  redirect_uri: 'https://partner.example/callback',
  response_mode: 'query',
  scope: 'openid launch',
  code_challenge: createPkcePair().codeChallenge,
  code_challenge_method: 'S256',
  state: 'state',
  launch: 'unknown',
});

/** Returns the access token of a new launch whose user has one permission. */
async function partnerToken(): Promise<string> {
  const issued = await send(`${partners}/launches`, { token: await host(), json: aLaunch('partner-demo') });
  const { launch } = (await issued.json()) as { launch: string };
  const { codeVerifier, codeChallenge } = createPkcePair();
  const shared = {
    client_id: 'partner-demo',
    redirect_uri: `${platform.url}/demo/partner/callback`,
    scope: 'launch resource.read',
  };
  const form = { ...unknownPush(), ...shared, code_challenge: codeChallenge, launch };
  const redirect = await send(`${partners}${oauth}/authorize`, { form });
  const code = new URL(redirect.headers.get('location') ?? '').searchParams.get('code') ?? '';
  const exchange = { ...shared, grant_type: 'authorization_code', code, code_verifier: codeVerifier };
  const answer = await send(`${partners}${oauth}/token`, { form: exchange });
  return ((await answer.json()) as { access_token: string }).access_token;
}

async function refusedLaunch(path: string): Promise<Response> {
  return (await requestLaunch(platform, { path, payload: {} })).response;
}

async function introspect(clientId: string, form: Readonly<Record<string, string>> = {}) {
  const answer = await bySecret('/token', { grant_type: 'client_credentials', scope }, clientId);
  const { access_token: token } = (await answer.json()) as { access_token: string };
  return send(`${clients}${oauth}/introspect`, { token, form });
}

const refusedToken = 'access.token.refused.v1';
const refusedDesktop = 'desktop.launch.refused.v1';
const foreign = { grant_type: 'refresh_token', refresh_token: 'unknown' };

/** Every endpoint that authenticates a caller, with a request that is refused after the authentication. */
const places: readonly [string, number, string, () => Promise<Response>][] = [
  ['RequestLaunchUrl', 400, 'launch.url.refused.v1', () => refusedLaunch('/AccessApi/RequestLaunchUrl')],
  ['Validate', 400, 'launch.url.refused.v1', () => refusedLaunch('/AccessApi/Validate')],
  [
    'a launch request of a host',
    400,
    refusedDesktop,
    async () => send(`${partners}/launches`, { token: await host(), json: { dob: 'x' } }),
  ],
  [
    'a launch request of a client without the right',
    403,
    refusedDesktop,
    async () => send(`${partners}/launches`, { token: await platform.tokenOf('pms-demo'), json: {} }),
  ],
  [
    'a request to end a launch',
    404,
    refusedDesktop,
    async () => send(`${partners}/launches/unknown`, { method: 'DELETE', token: await host() }),
  ],
  [
    'a token request with a secret',
    400,
    refusedToken,
    () => bySecret('/token', { grant_type: 'client_credentials', scope: 'other' }),
  ],
  [
    'a token request with an assertion',
    400,
    refusedToken,
    byKeys('/token', { grant_type: 'client_credentials', scope: 'other' }, clients),
  ],
  ['a token request of a partner with an assertion', 400, refusedToken, byKeys('/token', foreign)],
  ['a token request of a partner with a certificate', 400, refusedToken, byCertificate('/token', foreign)],
  ['a pushed request with an assertion', 400, refusedDesktop, byKeys('/par', unknownPush())],
  ['a pushed request with a certificate', 400, refusedDesktop, byCertificate('/par', unknownPush())],
  ['a revocation with a secret', 400, refusedToken, () => bySecret('/revoke', {})],
  ['a revocation request of a partner with an assertion', 400, refusedToken, byKeys('/revoke', {})],
  ['a revocation request of a partner with a certificate', 400, refusedToken, byCertificate('/revoke', {})],
  ['an introspection', 400, refusedToken, () => introspect('resource-server')],
  ['an introspection without the right', 403, refusedToken, () => introspect('pms-demo')],
  [
    'the audit API',
    403,
    'audit.refused.v1',
    async () =>
      send(`/audit/events?correlationId=${randomUUID()}`, {
        method: 'GET',
        token: await platform.tokenOf('pms-demo'),
      }),
  ],
  [
    'the audit API in FHIR',
    403,
    'audit.refused.v1',
    async () =>
      send('/audit/AuditEvent?date=2026-01-01', {
        method: 'GET',
        token: await platform.tokenOf('pms-demo'),
      }),
  ],
  [
    'the resource API',
    403,
    'resource.refused.v1',
    async () => send('/resource/patient', { method: 'GET', token: await partnerToken() }),
  ],
];

describe('a refusal of an authenticated caller', () => {
  it('keeps its own status even if the address exceeds the limit of refusals', async () => {
    const stranger = () => send(`${partners}${oauth}/token`, { form: foreign });
    expect([(await stranger()).status, (await stranger()).status]).toEqual([400, 429]);
    expect((await send(`${partners}/launches`, { token: await host(), json: {} })).status).toBe(400);
  });

  it('counts towards the limit of the caller itself', async () => {
    const request = byCertificate('/token', { ...foreign, client_id: 'partner-with-limit' });
    const statuses = (await Promise.all([request(), request()])).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([400, 429]));
  });

  it.each(places)(
    'has its own event under its correlation id, even when repeated: %s',
    async (_place, status, type, request) => {
      const answers = [await request(), await request()];
      expect(answers.map((answer) => answer.status)).toEqual([status, status]);
      const token = await platform.tokenOf('audit-demo');
      for (const answer of answers) {
        const story = await platform.storyOf(guidOf(answer), [type], token);
        expect(story.filter((event) => event.type === type)).toHaveLength(1);
      }
    },
  );
});
