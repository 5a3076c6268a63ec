import { listen } from '@clinical-launch/http/server';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formOf } from './forms.ts';
import { startPortal } from './running-portal.ts';

let portal: Awaited<ReturnType<typeof startPortal>>;
beforeAll(async () => {
  portal = await startPortal();
});
afterAll(() => portal.stop());

const addressFor = async (clientId: string) => {
  const answer = await portal.requestSession(await portal.tokenOf(clientId));
  expect(answer.status).toBe(201);
  const { url }: { readonly url: string } = JSON.parse(await answer.text());
  return url;
};

const sendForm = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${portal.url}/developers/session`, {
    ...formOf(fields),
    headers: { Accept: 'text/html', ...headers },
    redirect: 'manual',
  });

describe('the developer portal', () => {
  it('shows on its start page how to sign in', async () => {
    const answer = await fetch(`${portal.url}/developers/`);
    const page = await answer.text();
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(page).toContain(`${portal.url}/idp/demo/oauth2/v2.0/token`);
    expect(page).not.toContain('You are signed in');
    const typed = await fetch(`${portal.url}/developers`, { redirect: 'manual' });
    expect([typed.status, typed.headers.get('location')]).toEqual([308, '/developers/']);
  });

  it('has pages whose forms state their origin, without which a browser on plain http cannot send them', async () => {
    for (const path of ['/developers/', '/developers/callbacks']) {
      const answer = await fetch(portal.url + path, { headers: { Accept: 'text/html' } });
      expect([path, answer.headers.get('referrer-policy')]).toEqual([path, 'same-origin']);
    }
    const visit = await portal.signIn('vendor-a');
    const signOut = (Origin: string) =>
      visit('/developers/sign-out', { method: 'POST', headers: { Origin } }).then(({ status }) => status);
    expect([await signOut('null'), await signOut(portal.url)]).toEqual([403, 303]);
  });

  it('exchanges the token of a sandbox client for an address that opens its session', async () => {
    const visit = await portal.signIn('vendor-a');
    expect(await (await visit('/developers/')).text()).toContain('You are signed in as <strong>vendor-a');
  });

  it('opens only one session with a sign-in address', async () => {
    const address = await addressFor('vendor-a');
    const statuses = await Promise.all(
      Array.from({ length: 5 }, async () => (await portal.openSession(address)).status),
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([303, 401, 401, 401, 401]);
  });

  it('refuses a sign-in address a minute after it was issued', async () => {
    const address = await addressFor('vendor-a');
    portal.clock.advance({ seconds: 61 });
    expect([(await fetch(address)).status, (await portal.openSession(address)).status]).toEqual([401, 401]);
  });

  it('signs in only with a click on a page that names the client, and not from another website', async () => {
    const address = await addressFor('vendor-a');
    const asked = await fetch(address);
    expect([asked.status, asked.headers.get('set-cookie')]).toEqual([200, null]);
    expect(await asked.text()).toContain('Sign in as vendor-a');
    expect((await portal.openSession(address, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
    expect((await portal.openSession(address, { 'Sec-Fetch-Site': 'same-origin' })).status).toBe(303);
    expect((await fetch(address)).status).toBe(401);
  });

  it('answers 403 to the token of a client that is not a sandbox client, and says what to do', async () => {
    const answer = await portal.requestSession(await portal.tokenOf('pms-demo', 'pms-demo-secret'));
    expect([answer.status, JSON.parse(await answer.text())]).toEqual([
      403,
      expect.objectContaining({ title: expect.stringContaining('Ask the operator for a sandbox client') }),
    ]);
  });

  it('opens the session of a client with a public secret after a button and one click', async () => {
    const page = await (await fetch(`${portal.url}/developers/`)).text();
    expect(page.match(/Sign in as [\w-]+/g)).toEqual(['Sign in as sandbox-pms']);
    const answer = await sendForm({ client: 'sandbox-pms' });
    const address = answer.headers.get('location') ?? '';
    expect([answer.status, await (await fetch(address)).text()]).toEqual([
      303,
      expect.stringContaining('Sign in as sandbox-pms'),
    ]);
    expect((await portal.openSession(address)).status).toBe(303);
  });

  it('takes a token in the form of its start page', async () => {
    const answer = await sendForm({ token: ` ${await portal.tokenOf('vendor-a')}\r\n` });
    expect(answer.status).toBe(303);
    const page = await (await fetch(answer.headers.get('location') ?? '')).text();
    expect(page).toContain('Sign in as vendor-a');
  });

  it.each([
    [401, 'no token', { token: '' }],
    [401, 'a token of nobody', { token: 'a.b.c' }],
    [403, 'a client with a secret of its own', { client: 'vendor-a' }],
    [403, 'a client of the demo that is no sandbox client', { client: 'pms-demo' }],
    [403, 'an unknown client', { client: '__proto__' }],
  ])('answers %i to a form with %s', async (status, _what, fields) => {
    expect((await sendForm(fields)).status).toBe(status);
  });

  it('answers 403 to a sign-in form that another website sent', async () => {
    const foreign = { 'Sec-Fetch-Site': 'cross-site' };
    expect((await sendForm({ client: 'sandbox-pms' }, foreign)).status).toBe(403);
  });

  it('records no refused launch in the audit trail at a sign-in, nor when it checks the token again', async () => {
    const visit = await portal.signIn('vendor-b');
    portal.clock.advance({ seconds: 60 });
    expect((await visit('/developers/requests')).status).toBe(200);
    await visit('/developers/payload', formOf({ payload: '{}' }));
    const headers = { Authorization: `Bearer ${await portal.tokenOf('audit-demo', 'audit-demo-secret')}` };
    const refusals = async () => {
      const answer = await fetch(`${portal.url}/audit/events?client=vendor-b&outcome=refused`, { headers });
      const { entries }: { entries: { event: { data: { step?: string } } }[] } = JSON.parse(
        await answer.text(),
      );
      return entries.map(({ event }) => event.data.step);
    };
    await until(async () => (await refusals()).length > 0);
    // The only refusal is the payload that the developer checked.
    expect(await refusals()).toEqual(['validate']);
  });

  it.each([
    ['no token', ''],
    ['a token of nobody', 'a.b.c'],
  ])('answers 401 to %s', async (_name, token) => {
    expect((await portal.requestSession(token)).status).toBe(401);
  });

  it('answers 401 to a revoked token', async () => {
    const token = await portal.tokenOf('vendor-a');
    const credentials = { client_id: 'vendor-a', client_secret: 'vendor-a' };
    const revoked = await fetch(`${portal.url}/idp/demo/oauth2/v2.0/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token, ...credentials }),
    });
    expect(revoked.status).toBe(200);
    // The platform reads its list of revoked tokens every two seconds.
    await until(async () => (await portal.requestSession(token)).status === 401);
  });

  it('ends the session when the developer signs out', async () => {
    const visit = await portal.signIn('vendor-a');
    expect((await visit('/developers/sign-out', { method: 'POST' })).status).toBe(303);
    expect(await (await visit('/developers/')).text()).not.toContain('You are signed in');
  });

  it('ends the session with its access token', async () => {
    const visit = await portal.signIn('vendor-a');
    portal.clock.advance({ seconds: 3599 });
    expect((await visit('/developers/requests')).status).toBe(200);
    portal.clock.advance({ seconds: 1 });
    expect((await visit('/developers/requests')).status).toBe(401);
  });

  it('ends the session within a minute when its access token is revoked', async () => {
    const token = await portal.tokenOf('vendor-a');
    const visit = await portal.signIn('vendor-a', token);
    const form = new URLSearchParams({ token, client_id: 'vendor-a', client_secret: 'vendor-a' });
    await fetch(`${portal.url}/idp/demo/oauth2/v2.0/revoke`, { method: 'POST', body: form });
    await until(async () => (await portal.requestSession(token)).status === 401);
    expect((await visit('/developers/requests')).status).toBe(200);
    portal.clock.advance({ seconds: 60 });
    expect((await visit('/developers/requests')).status).toBe(401);
  });

  it.each([
    ['its secret was replaced', { secrets: [{ sha256: '0'.repeat(64) }] }],
    ['it is no longer a sandbox client', { sandbox: false }],
    ['it was suspended', { suspended: true }],
    ['it was removed', undefined],
  ])('ends the session of a client when %s', async (_what, changes) => {
    const changing = await startPortal();
    const [visit, other] = [await changing.signIn('vendor-a'), await changing.signIn('vendor-b')];
    await changing.change('vendor-a', changes);
    await until(async () => (await visit('/developers/requests')).status === 401);
    expect((await other('/developers/requests')).status).toBe(200);
    await changing.stop();
  });

  it('ends the oldest session of a client that opens more than 50, and none of another client', async () => {
    const [oldest, other] = [await portal.signIn('vendor-a'), await portal.signIn('vendor-b')];
    const token = await portal.tokenOf('vendor-a');
    for (let count = 0; count < 50; count += 1) {
      const { url }: { readonly url: string } = JSON.parse(await (await portal.requestSession(token)).text());
      await portal.openSession(url);
    }
    expect((await oldest('/developers/requests')).status).toBe(401);
    expect((await other('/developers/requests')).status).toBe(200);
  });

  it('answers 403 to a form that another website sent', async () => {
    const visit = await portal.signIn('vendor-a');
    const foreign = { method: 'POST', headers: { 'Sec-Fetch-Site': 'cross-site' } };
    expect((await visit('/developers/sign-out', foreign)).status).toBe(403);
    expect(await (await visit('/developers/')).text()).toContain('You are signed in');
  });

  it('answers 503 and logs the remedy if the edge does not accept requests of the portal', async () => {
    const edge = await listen((_request, response) => void response.writeHead(403).end(), {
      port: 0,
      host: '127.0.0.1',
    });
    const refused = await startPortal(undefined, { PLATFORM_URL: `http://127.0.0.1:${edge.port}` });
    const answer = await refused.requestSession(await refused.tokenOf('vendor-a'));
    await Promise.all([refused.stop(), edge.stop()]);
    expect(answer.status).toBe(503);
    expect(refused.lines.join('')).toContain('SERVER_ALLOWED_NETWORKS');
  });

  it('logs no one-time codes and no tokens', async () => {
    const token = await portal.tokenOf('vendor-a');
    const { url }: { readonly url: string } = JSON.parse(await (await portal.requestSession(token)).text());
    await portal.openSession(url);
    const code = new URL(url).searchParams.get('code') ?? 'none';
    const logged = portal.lines.join('');
    expect([logged.includes(code), logged.includes(token)]).toEqual([false, false]);
  });
});
