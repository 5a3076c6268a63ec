import { listen, type RunningServer } from '@clinical-launch/http/server';
import { createTestKey, type TestKey } from '@clinical-launch/testing/token-issuer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { createOpenId } from '../src/http/pages/open-id.ts';
import type { BegunSignIn } from '../src/http/pages/session.ts';

const clientId = 'audit-pages';
let published: TestKey;
let signing: TestKey;
let nonce = '';
let server: RunningServer;
let issuer: string;
beforeAll(async () => {
  published = await createTestKey('staff-key');
  server = await listen(
    async ({ url }, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(await answerTo(url ?? '')));
    },
    { port: 0, host: '127.0.0.1' },
  );
  issuer = `http://127.0.0.1:${server.port}`;
});
afterAll(() => server.stop());

async function answerTo(path: string): Promise<object> {
  if (path === '/keys') return { keys: [published.publicJwk] };
  if (path === '/token')
    return { access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token: await idToken() };
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    id_token_signing_alg_values_supported: ['ES256'],
  };
}

const idToken = () =>
  new SignJWT({ nonce, name: 'Ada Okonkwo', roles: ['audit.read'] })
    .setProtectedHeader({ alg: 'ES256', kid: published.kid })
    .setIssuer(issuer)
    .setAudience(clientId)
    .setSubject('staff-1')
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(signing.privateKey);

/** Signs in with an ID token that the issuer signed with a key. */
async function signInWith(key: TestKey) {
  signing = key;
  const openId = createOpenId({
    publicUrl: 'https://launch.example',
    platformUrl: 'https://launch.example',
    issuer,
    clientId,
    rightClaim: 'roles',
    allowedNetworks: ['127.0.0.0/8'],
  });
  const { signIn }: { readonly signIn: BegunSignIn } = await openId.begin('/audit/');
  nonce = signIn.nonce;
  return openId.complete(new URLSearchParams({ code: 'c', state: signIn.state }), [signIn]);
}

describe('the sign-in of staff', () => {
  it('accepts an ID token that a published key of the issuer signed', async () => {
    await expect(signInWith(published)).resolves.toMatchObject({
      staff: { subject: 'staff-1', name: 'Ada Okonkwo', mayRead: true },
      returnTo: '/audit/',
    });
  });

  it('refuses an ID token that another key signed under the name of the published key', async () => {
    const other = await createTestKey(published.kid);
    await expect(signInWith(other)).rejects.toMatchObject({ status: 400 });
  });
});
