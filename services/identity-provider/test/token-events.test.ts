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
} from './running-identity-provider.ts';

const clock = new TestClock();
const awkwardSecret = 'with: a+b %41 & é=/';
const realms = [
  { realm: 'north', clients: [aClient(), aClient({ clientId: 'awkward', secret: awkwardSecret })] },
  { realm: 'brief', accessTokenSeconds: 300, clients: [aClient()] },
];
const path = '/north/oauth2/v2.0/token';

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

describe('the event of a token request', () => {
  it('contains the id and rights of the token, and is stored before the answer', async () => {
    const before = running.published.length;
    const answer = await running.idp.token('brief');
    const reported = running.published.slice(before);
    expect(reported).toHaveLength(1);
    expect(reported[0]).toMatchObject({
      type: 'access.token.issued.v1',
      source: '/identity-provider',
      data: {
        realm: 'brief',
        clientId: 'pms-north',
        tokenId: decodeJwt(String(answer.access_token)).jti,
        scope: 'ocs-launch.write',
        expiresInSeconds: 300,
      },
    });
  });

  it('contains the client_id of a registered client in a refusal, but never an unknown client_id', async () => {
    const before = running.published.length;
    await running.idp.token('north', { client_secret: 'guessed' });
    await running.idp.token('north', { client_id: 'sent-by-a-stranger' });
    const [wrong, unknown] = running.published.slice(before);
    const from = { address: '127.0.0.1', count: 1 };
    expect(wrong?.data).toEqual({
      realm: 'north',
      status: 401,
      reason: 'wrong_secret',
      ...from,
      clientId: 'pms-north',
    });
    expect(unknown?.data).toEqual({ realm: 'north', status: 401, reason: 'unknown_client', ...from });
  });

  it('causes 500 instead of a token if it cannot be stored', async () => {
    const unheard = await runIdentityProvider({
      clock,
      storage,
      realms,
      events: { append: () => Promise.reject(new Error('the outbox is away')) },
    });
    const response = await unheard.idp.postForm(path, tokenForm());
    expect(response.status).toBe(500);
    expect(record(await response.json())).toEqual({
      error: 'server_error',
      error_description: expect.any(String),
      correlation_id: response.headers.get('x-correlation-id'),
    });
    await unheard.stop();
  });

  it('contains no secret, no hash of a secret and no token, and neither does the log', async () => {
    const byHeader = { grant_type: 'client_credentials', scope };
    const answer = await running.idp.token('north');
    await running.idp.token('north', { client_secret: 'a-guessed-secret' });
    await running.idp.postForm(path, byHeader, { authorization: basic('awkward', awkwardSecret) });
    await running.idp.postForm(path, byHeader, { authorization: basic('awkward', 'another-guess') });
    await running.idp.postForm(path, { ...tokenForm(), scope: 'wrong' });
    const reported = [...running.lines, ...running.published.map((event) => JSON.stringify(event))].join(
      '\n',
    );
    expect(reported).toContain('access.token.issued.v1');
    const secrets = [
      'a secret of this client',
      'a-guessed-secret',
      awkwardSecret,
      'another-guess',
      'the new one',
    ];
    const hidden = [
      ...secrets,
      ...secrets.map((secret) => hashClientSecret(secret)),
      ...secrets.map((secret) => basic('awkward', secret).slice(6)),
      String(answer.access_token),
      String(answer.access_token).split('.')[2],
    ];
    for (const text of hidden) expect(reported).not.toContain(text);
  });
});

describe('the service in production', () => {
  const start = (client: Record<string, unknown>) =>
    runIdentityProvider({
      clock,
      storage,
      isProduction: true,
      realms: [{ realm: 'live', clients: [client] }],
    });

  it('serves the clients of its own registry', async () => {
    const live = await start(aClient());
    expect((await live.idp.token('live')).status).toBe(200);
    await live.stop();
  });

  it('does not start with a secret of the demo in its registry', async () => {
    await expect(start(aClient({ secret: 'pms-demo-secret' }))).rejects.toThrow(
      'realms[0].clients[0].secrets[0] is a secret of the demo',
    );
  });
});
