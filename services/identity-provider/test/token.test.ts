import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { hashClientSecret } from '../src/domain/client-secrets.ts';
import {
  aClient,
  basic,
  record,
  runIdentityProvider,
  scope,
  tokenForm,
  verifyToken,
} from './running-identity-provider.ts';

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const awkwardSecret = 'with: a+b %41 & é=/';
const clock = new TestClock('2026-03-02T09:30:00Z');
const realms = [
  {
    realm: 'north',
    clients: [
      aClient(),
      aClient({ clientId: 'pms-noscope-here', scopes: [] }),
      aClient({ clientId: 'awkward', secret: awkwardSecret }),
      aClient({ clientId: 'two-rights', scopes: ['ocs-launch.write', 'launch.issue'] }),
      aClient({ clientId: 'public', secrets: [] }),
      aClient({ clientId: 'limited', requestsPerSecond: 2 }),
      aClient({
        clientId: 'rolling',
        secrets: [
          { sha256: hashClientSecret('the old one'), expires: '2026-03-02T10:00:00Z' },
          { sha256: hashClientSecret('the new one') },
        ],
      }),
    ],
  },
  { realm: 'brief', accessTokenSeconds: 300, clients: [aClient()] },
  { realm: 'north/desktop', clients: [aClient()] },
];

let storage: Storage;
let running: Awaited<ReturnType<typeof runIdentityProvider>>;
beforeAll(async () => {
  storage = await openTestStorage();
  running = await runIdentityProvider({ clock, storage, realms });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

const path = '/north/oauth2/v2.0/token';
const verify = async (token: unknown, realm = 'north') =>
  verifyToken(token, { keySet: await running.idp.keySet(realm), issuer: running.issuer(realm), clock });

describe('POST /{realm}/oauth2/v2.0/token', () => {
  it('returns a Bearer token that is valid for an hour to a client that authenticates in the body', async () => {
    const response = await running.idp.postForm(path, tokenForm());
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('pragma')).toBe('no-cache');
    expect(record(await response.json())).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'api://clinical-launch/.default',
    });
  });

  it.each([
    ['openid profile offline_access api://clinical-launch/.default'],
    ['api://clinical-launch/.default email openid'],
    ['api://clinical-launch/.default api://clinical-launch/.default'],
    [' api://clinical-launch/.default '],
  ])('reads the scope %j, which a client library sent, as the default scope', async (sent) => {
    const answer = await running.idp.token('north', { scope: sent });
    expect(answer).toMatchObject({ status: 200, scope });
    const { claims } = await verify(answer.access_token);
    expect(claims).toMatchObject({ scope: 'ocs-launch.write', scp: ['ocs-launch.write'] });
  });

  it('returns a token with the claims of RFC 9068, and with the rights in scope, scp and roles', async () => {
    const answer = await running.idp.token('north', { client_id: 'two-rights' });
    const { claims, header } = await verify(answer.access_token);
    const now = clock.now() / 1000;
    expect(header).toEqual({ alg: 'RS256', typ: 'at+jwt', kid: expect.any(String) });
    expect(claims).toEqual({
      iss: running.issuer('north'),
      sub: 'two-rights',
      client_id: 'two-rights',
      azp: 'two-rights',
      aud: 'api://clinical-launch',
      iat: now,
      nbf: now - 10,
      exp: now + 3600,
      jti: expect.stringMatching(guid),
      scope: 'ocs-launch.write launch.issue',
      scp: ['ocs-launch.write', 'launch.issue'],
      roles: ['ocs-launch.write', 'launch.issue'],
    });
  });

  it('returns a valid token without rights to a client without rights', async () => {
    const answer = await running.idp.token('north', { client_id: 'pms-noscope-here' });
    expect(answer.scope).toBe(scope);
    const { claims } = await verify(answer.access_token);
    expect(claims).toMatchObject({ sub: 'pms-noscope-here', scp: [], roles: [] });
    expect(claims).not.toHaveProperty('scope');
  });

  it('returns a unique jti in each token', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => running.idp.token('north')));
    expect(new Set(answers.map(({ access_token }) => decodeJwt(String(access_token)).jti)).size).toBe(20);
  });

  it('returns a token with the lifetime that the realm sets', async () => {
    const answer = await running.idp.token('brief');
    expect(answer.expires_in).toBe(300);
    const { claims } = await verify(answer.access_token, 'brief');
    expect(Number(claims.exp) - Number(claims.iat)).toBe(300);
  });

  it('accepts form-urlencoded credentials by HTTP Basic (RFC 6749 section 2.3.1)', async () => {
    const authorization = basic('awkward', awkwardSecret);
    const form = { grant_type: 'client_credentials', scope };
    const response = await running.idp.postForm(path, form, { authorization });
    const { claims } = await verify(record(await response.json()).access_token);
    expect(claims.sub).toBe('awkward');
    const again = await running.idp.postForm(path, { ...form, client_id: 'awkward' }, { authorization });
    expect(again.status).toBe(200);
  });

  it('accepts a secret with special characters in the body', async () => {
    const answer = await running.idp.token('north', { client_id: 'awkward', client_secret: awkwardSecret });
    expect(answer.status).toBe(200);
  });

  it('ignores unknown parameters, even if they are repeated', async () => {
    const form: [string, string][] = [
      ...Object.entries(tokenForm()),
      ['resource', 'a'],
      ['resource', 'b'],
      ['__proto__', 'c'],
    ];
    const response = await running.idp.postForm(path, form);
    expect(response.status).toBe(200);
  });

  it.each(['/NORTH/oauth2/v2.0/token', '/tfp/north/oauth2/v2.0/token', '/TFP/North/oauth2/v2.0/token'])(
    'finds the realm at %s and returns its canonical issuer',
    async (asked) => {
      const response = await running.idp.postForm(asked, tokenForm());
      const { claims } = await verify(record(await response.json()).access_token);
      expect(claims.iss).toBe(running.issuer('north'));
    },
  );

  it.each(['/north/desktop/oauth2/v2.0/token', '/tfp/North/DESKTOP/oauth2/v2.0/token'])(
    'finds a realm of two segments at %s',
    async (asked) => {
      const response = await running.idp.postForm(asked, tokenForm());
      const { claims } = await verify(record(await response.json()).access_token, 'north/desktop');
      expect(claims.iss).toBe(running.issuer('north/desktop'));
    },
  );

  it('refuses a client of another realm', async () => {
    const answer = await running.idp.token('brief', { client_id: 'two-rights' });
    expect(answer).toMatchObject({ status: 401, error: 'invalid_client' });
  });
});

describe('client secrets', () => {
  it('are both valid during a rotation until the old secret expires', async () => {
    const outcome = async (client_secret: string) =>
      (await running.idp.token('north', { client_id: 'rolling', client_secret })).status;
    const startedAt = clock.now();
    expect(await Promise.all(['the old one', 'the new one', 'another'].map(outcome))).toEqual([
      200, 200, 401,
    ]);
    clock.advance({ seconds: (Date.parse('2026-03-02T10:00:00Z') - startedAt) / 1000 - 1 });
    expect(await outcome('the old one')).toBe(200);
    clock.advance({ seconds: 1 });
    expect(await Promise.all(['the old one', 'the new one'].map(outcome))).toEqual([401, 200]);
    const reasons = running.published.flatMap(({ type, data }) =>
      type === 'access.token.refused.v1' && 'reason' in data ? [data.reason] : [],
    );
    expect(reasons).toContain('expired_secret');
  });
});

describe('the rate limit of a client', () => {
  const ask = (client_secret = 'a secret of this client') =>
    running.idp.postForm(path, { ...tokenForm(), client_id: 'limited', client_secret });

  it('causes 429 with Retry-After, and allows requests again a second later', async () => {
    clock.advance({ seconds: 5 });
    const statuses = [];
    for (let request = 0; request < 2; request += 1) statuses.push((await ask()).status);
    expect(statuses).toEqual([200, 200]);
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(record(await refused.json()).error).toBe('too_many_requests');
    clock.advance({ seconds: 1 });
    expect((await ask()).status).toBe(200);
  });

  it('cannot be used up by someone who knows only the client ID', async () => {
    clock.advance({ seconds: 5 });
    // Four guesses are twice the rate limit. A fifth guess would cause a delay for wrong secrets.
    const guesses = await Promise.all(Array.from({ length: 4 }, () => ask('guessed')));
    expect(guesses.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect((await ask()).status).toBe(200);
  });
});
