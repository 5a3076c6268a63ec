import { randomBytes } from 'node:crypto';
import { createSealer } from '@clinical-launch/crypto/sealing';
import { sendStatus, sendText } from '@clinical-launch/http/answer';
import { endpoint, type Handler, textParameter } from '@clinical-launch/http/endpoint';
import { oauthDialect } from '@clinical-launch/http/errors';
import { createRateLimiter } from '@clinical-launch/limits/rate-limit';
import { createTestDependencies, serveForTest } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { signedIn } from '../src/http/pages/endpoints.ts';
import { createSessions, type Staff } from '../src/http/pages/session.ts';
import { signIn } from '../src/http/pages/sign-in.ts';
import type { Visit } from '../src/http/pages/visit.ts';

const publicUrl = 'https://audit.example';
const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
const reader: Staff = { subject: 's1', username: 'ada', name: 'Ada', mayRead: true };

let clock: TestClock;
let server: Awaited<ReturnType<typeof serveForTest>>;
/** The address to which the latest sign-in would return. */
let returnTo: string;
beforeEach(async () => {
  clock = new TestClock();
  const dependencies = createTestDependencies(clock);
  const sessions = createSessions({
    sealer,
    clock,
    endedSessions: dependencies.endedSessions,
    isSecure: true,
  });
  const shared = { source: '/audit-trail', dialect: oauthDialect };
  const begun = { state: 's', nonce: 'n', codeVerifier: 'v' };
  const answerUsername: Handler<Visit> = ({ response, staff }) =>
    sendText(response, 'text/plain', staff.username);
  const endpoints = [
    endpoint({
      ...shared,
      path: '/audit/opens/:mayRead',
      methods: {
        GET(exchange) {
          const mayRead = textParameter(exchange, 'mayRead') === 'yes';
          sessions.open(exchange.response, { ...reader, subject: mayRead ? 's1' : 's2', mayRead });
          sendStatus(exchange.response, 200);
        },
      },
    }),
    endpoint({
      ...shared,
      path: '/audit/ends',
      methods: {
        async POST({ request, response }) {
          await sessions.close(request, response);
          sendStatus(response, 200);
        },
      },
    }),
    endpoint({
      ...shared,
      path: '/audit/page',
      guard: signedIn(sessions, { publicUrl, clientId: 'pages' }, createRateLimiter(clock)),
      methods: { GET: answerUsername, POST: answerUsername },
    }),
    endpoint({
      ...shared,
      path: '/audit/sign-in',
      methods: {
        GET: signIn({
          sessions,
          origin: publicUrl,
          config: { clientId: 'pages' },
          events: dependencies.bus,
          openId: {
            begin: async (wanted) => {
              returnTo = wanted;
              return { signIn: { ...begun, returnTo: wanted }, address: 'https://issuer.example/authorize' };
            },
            complete: () => Promise.reject(new Error('not requested here')),
            signOutAddress: async () => undefined,
          },
        }),
      },
    }),
  ];
  server = await serveForTest({
    mounts: [{ path: '/', service: { name: 'pages', endpoints } }],
    dependencies,
  });
});
afterEach(() => server.stop());

const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
const open = async (mayRead = 'yes') => cookieOf(await fetch(`${server.url}/audit/opens/${mayRead}`));
const visit = (cookie: string, { method = 'GET', headers = {} }: Sent = {}) =>
  fetch(`${server.url}/audit/page`, { redirect: 'manual', method, headers: { cookie, ...headers } });

type Sent = { readonly method?: string; readonly headers?: Readonly<Record<string, string>> };

describe('a session of the pages', () => {
  it('ends after half an hour without a request', async () => {
    const cookie = await open();
    clock.advance({ seconds: 30 * 60 - 1 });
    expect((await visit(cookie)).status).toBe(200);
    clock.advance({ seconds: 1 });
    expect((await visit(cookie)).status).toBe(303);
  });

  it('ends eight hours after the sign-in, however often it is used', async () => {
    let cookie = await open();
    for (let minutes = 20; minutes < 8 * 60; minutes += 20) {
      clock.advance({ seconds: 20 * 60 });
      const response = await visit(cookie);
      expect({ minutes, status: response.status }).toEqual({ minutes, status: 200 });
      cookie = cookieOf(response);
    }
    clock.advance({ seconds: 20 * 60 });
    expect((await visit(cookie)).status).toBe(303);
  });

  it('ends for every copy of its cookie when its user signs out', async () => {
    const [cookie, other] = [await open(), await open()];
    await fetch(`${server.url}/audit/ends`, { method: 'POST', headers: { cookie } });
    expect((await visit(cookie)).status).toBe(303);
    expect((await visit(other)).status).toBe(200);
  });

  it('is a cookie that scripts cannot read, sent only over https and below /audit', async () => {
    const response = await fetch(`${server.url}/audit/opens/yes`);
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Secure-audit-session=[^;]+; Path=\/audit; HttpOnly; Secure; SameSite=Lax$/),
    ]);
  });
});

describe('a page for staff', () => {
  it('redirects to the sign-in if there is no session, and passes its own address', async () => {
    const response = await visit('');
    expect([response.status, response.headers.get('location')]).toEqual([
      303,
      'https://audit.example/audit/sign-in?to=%2Faudit%2Fpage',
    ]);
  });

  it('answers 403 to a user without the right to read the audit trail', async () => {
    expect((await visit(await open('no'))).status).toBe(403);
  });

  it('answers 30 requests a second of one person, and 429 to further ones, from every session', async () => {
    const [cookie, other, another] = [await open(), await open(), await open('no')];
    for (let sent = 0; sent < 30; sent += 1) expect((await visit(cookie)).status).toBe(200);
    const refused = await visit(other);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await visit(another)).status).toBe(403);
    clock.advance({ seconds: 1 });
    expect((await visit(other)).status).toBe(200);
  });

  it('accepts forms from its own origin only', async () => {
    const cookie = await open();
    const send = (site: string) => visit(cookie, { method: 'POST', headers: { 'sec-fetch-site': site } });
    expect((await send('same-origin')).status).toBe(200);
    for (const site of ['same-site', 'cross-site']) expect((await send(site)).status).toBe(403);
  });
});

describe('a sign-in', () => {
  it.each([
    ['/audit/activity?from=2026-03-01', '/audit/activity?from=2026-03-01'],
    ['https://audit.example/audit/patients', '/audit/patients'],
    ['https://evil.example/audit/', '/audit/'],
    ['//evil.example/audit/', '/audit/'],
    ['/\\evil.example/audit/', '/audit/'],
    ['javascript:alert(1)', '/audit/'],
    ['/oltr/', '/audit/'],
    ['/audit/../oltr/', '/audit/'],
  ])('requested with "to" %s returns to %s', async (to, expected) => {
    await fetch(`${server.url}/audit/sign-in?${new URLSearchParams({ to }).toString()}`, {
      redirect: 'manual',
    });
    expect(returnTo).toBe(expected);
  });
});
