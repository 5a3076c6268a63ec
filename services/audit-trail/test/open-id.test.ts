import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createSealer } from '@clinical-launch/crypto/sealing';
import { readForm } from '@clinical-launch/http/body';
import { endpoint } from '@clinical-launch/http/endpoint';
import { oauthDialect } from '@clinical-launch/http/errors';
import { listen, type RunningServer } from '@clinical-launch/http/server';
import { createTestDependencies, serveForTest } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { createTestKey, type TestKey } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { createOpenId } from '../src/http/pages/open-id.ts';
import { createSessions } from '../src/http/pages/session.ts';
import { completeSignIn, signIn } from '../src/http/pages/sign-in.ts';

const clientId = 'audit-pages';
const clientSecret = 'the secret: of the pages';
const publicUrl = 'https://launch.example';
let published: TestKey;
let server: RunningServer;
let issuer: string;
/** What the issuer does, and the last token request that it received. */
let plan: {
  key: TestKey;
  nonce?: string;
  expires?: string;
  methods?: readonly string[];
  tokenError?: string;
};
let nonce = '';
let tokenRequest: { authorization: string | undefined; secret: string | null };
beforeAll(async () => {
  published = await createTestKey('staff-key');
  server = await listen(
    async (request, response) => {
      response.setHeader('Content-Type', 'application/json');
      if (request.url === '/token') {
        const form = await readForm({ request, response });
        const { authorization } = request.headers;
        tokenRequest = { authorization, secret: form.get('client_secret') };
        if (plan.tokenError !== undefined) response.statusCode = 400;
      }
      response.end(JSON.stringify(await answerTo(request)));
    },
    { port: 0, host: '127.0.0.1' },
  );
  issuer = `http://127.0.0.1:${server.port}`;
});
afterAll(() => server.stop());
beforeEach(() => {
  plan = { key: published };
});

async function answerTo({ url }: IncomingMessage): Promise<object> {
  if (url === '/keys') return { keys: [published.publicJwk] };
  if (url === '/token') {
    if (plan.tokenError !== undefined) return { error: plan.tokenError, error_description: 'Ada Okonkwo' };
    return { access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token: await idToken() };
  }
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    id_token_signing_alg_values_supported: ['ES256'],
    token_endpoint_auth_methods_supported: plan.methods,
  };
}

const idToken = () =>
  new SignJWT({ nonce: plan.nonce ?? nonce, name: 'Ada Okonkwo', roles: ['audit.read'] })
    .setProtectedHeader({ alg: 'ES256', kid: published.kid })
    .setIssuer(issuer)
    .setAudience(clientId)
    .setSubject('staff-1')
    .setIssuedAt()
    .setExpirationTime(plan.expires ?? '1m')
    .sign(plan.key.privateKey);

const openIdOf = (secret?: string) =>
  createOpenId({
    publicUrl,
    platformUrl: publicUrl,
    issuer,
    clientId,
    ...(secret && { clientSecret: secret }),
    rightClaim: 'roles',
    allowedNetworks: ['127.0.0.0/8'],
  });

/** Signs in at the issuer, which does what `plan` says. */
async function complete(secret?: string) {
  const openId = openIdOf(secret);
  const { signIn: begun } = await openId.begin('/audit/');
  nonce = begun.nonce;
  return openId.complete(new URLSearchParams({ code: 'c', state: begun.state }), [begun]);
}

describe('the sign-in of staff', () => {
  it('accepts an ID token that a published key of the issuer signed', async () => {
    await expect(complete()).resolves.toMatchObject({
      staff: { subject: 'staff-1', name: 'Ada Okonkwo', mayRead: true },
      returnTo: '/audit/',
    });
  });

  it('refuses an ID token that another key signed under the name of the published key', async () => {
    plan.key = await createTestKey(published.kid);
    await expect(complete()).rejects.toMatchObject({ status: 400 });
  });

  it.each([
    [undefined, 'Basic'],
    [['client_secret_basic'], 'Basic'],
    [['private_key_jwt', 'client_secret_basic'], 'Basic'],
    [['client_secret_post'], 'the body'],
    [['client_secret_basic', 'client_secret_post'], 'the body'],
  ])('sends the secret by a method of the issuer: %j is %s', async (methods, place) => {
    if (methods !== undefined) plan.methods = methods;
    await complete(clientSecret);
    // RFC 6749 section 2.3.1 encodes each part as a form does.
    const pair = `${clientId.replace('-', '%2D')}:the+secret%3A+of+the+pages`;
    const basic = `Basic ${Buffer.from(pair).toString('base64')}`;
    expect(tokenRequest).toEqual(
      place === 'Basic'
        ? { authorization: basic, secret: null }
        : { authorization: undefined, secret: clientSecret },
    );
  });

  it.each<[string, Partial<typeof plan>, Record<string, string>, RegExp]>([
    ['the error of the issuer', {}, { error: 'access_denied' }, /"issuerError":"access_denied"/],
    ['a refused secret', { tokenError: 'invalid_client' }, {}, /"issuerError":"invalid_client"/],
    ['a clock', { expires: '-5m' }, {}, /\\"exp\\".*past current timestamp/],
    ['the nonce', { nonce: 'another' }, {}, /\\"nonce\\"/],
    ['the state', {}, { state: 'another' }, /this browser did not start the sign-in/],
  ])('logs why it failed, without secrets and names: %s', async (_cause, planned, sent, logged) => {
    Object.assign(plan, planned);
    const dependencies = createTestDependencies(new TestClock());
    const { clock, endedSessions, bus: events, lines } = dependencies;
    const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
    const sessions = createSessions({ sealer, clock, endedSessions, isSecure: true });
    const parts = {
      openId: openIdOf(clientSecret),
      sessions,
      origin: publicUrl,
      config: { clientId },
      events,
    };
    const shared = { source: '/audit-trail', dialect: oauthDialect };
    const endpoints = [
      endpoint({ ...shared, path: '/audit/sign-in', methods: { GET: signIn(parts) } }),
      endpoint({ ...shared, path: '/audit/callback', methods: { GET: completeSignIn(parts) } }),
    ];
    const mounts = [{ path: '/', service: { name: 'pages', endpoints } }];
    const pages = await serveForTest({ mounts, dependencies });
    const begun = await fetch(`${pages.url}/audit/sign-in`, { redirect: 'manual' });
    const { searchParams } = new URL(begun.headers.get('location') ?? '');
    const state = searchParams.get('state') ?? '';
    nonce = searchParams.get('nonce') ?? '';
    const answer = { code: 'secret-code', state, error_description: 'Ada Okonkwo', ...sent };
    const query = new URLSearchParams(answer).toString();
    const Cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const failed = await fetch(`${pages.url}/audit/callback?${query}`, { headers: { Cookie } });
    await pages.stop();
    expect(failed.status).toBe(400);
    const line = lines.find((each) => each.includes('a sign-in of staff failed')) ?? '';
    expect(line).toMatch(logged);
    for (const secret of ['secret-code', clientSecret, 'Okonkwo', state, nonce])
      expect(lines.filter((each) => each.includes(secret))).toEqual([]);
  });
});
