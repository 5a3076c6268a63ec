import { CallbackRefused } from '@clinical-launch/pms-client';
import { until } from '@clinical-launch/testing/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { post, reportOf, send, startCallbackPortal, startReceiver } from './callback-portal.ts';

type Portal = Awaited<ReturnType<typeof startCallbackPortal>>;
type Visit = Awaited<ReturnType<Portal['signIn']>>;

let portal: Portal;
let visit: Visit;
let other: Visit;
beforeAll(async () => {
  portal = await startCallbackPortal();
});
afterAll(() => portal.stop());
beforeEach(async () => {
  [visit, other] = [await portal.signIn('vendor-a'), await portal.signIn('vendor-b')];
});
afterEach(() => send(visit, { address: '' }));

const resultsOf = async (id: string) =>
  (await reportOf(visit)).callbacks.find((one) => one.id === id)?.attempts.map(({ result }) => result);

describe('a callback of the platform', () => {
  it('is answered 503 without a receiver, and delivered once the developer enters an address', async () => {
    const document = await portal.order('vendor-a');
    await until(async () => (await reportOf(visit)).callbacks.length === 1);
    const id = (await reportOf(visit)).callbacks[0]?.id ?? '';
    expect(await resultsOf(id)).toEqual(['no receiver']);
    const receiver = await startReceiver();
    expect((await send(visit, { address: receiver.url })).status).toBe(303);
    portal.clock.advance({ seconds: 6 });
    await until(async () => (await resultsOf(id))?.includes(204) === true);
    const [received] = receiver.received;
    if (received === undefined) throw new Error('The receiver has no callback');
    // The signature covers every byte of the body.
    expect(portal.verify(received)).toMatchObject({ id, data: { document } });
    expect(received.headers['content-type']).toBe('application/json');
    const page = await (await visit('/developers/callbacks')).text();
    expect(page).toContain(id);
    expect(page).toContain(receiver.url);
    const shown = `${page}${JSON.stringify(await reportOf(visit))}`;
    expect(['Whitfield', '9990000018', 'onlineOrder'].filter((secret) => shown.includes(secret))).toEqual([]);
    await receiver.stop();
  });

  it('is answered with the status that the system of the developer answers', async () => {
    const receiver = await startReceiver(() => 410);
    await send(visit, { address: receiver.url });
    expect((await portal.deliver()).status).toBe(410);
    await receiver.stop();
    const unanswered = await portal.deliver();
    expect([unanswered.status, unanswered.headers.get('retry-after')]).toEqual([503, '5']);
  });

  it.each([
    ['with the secret of another client', 'vendor-a', 401, { secret: `whsec_${'A'.repeat(43)}=` }],
    ['with a time that is more than five minutes ago', 'vendor-a', 401, { at: Date.now() - 400_000 }],
    ['for a client without a callback', 'vendor-c', 401, {}],
    ['for a client that is not a sandbox client', 'pms-demo', 404, {}],
    ['for an unknown client', 'nobody', 404, {}],
    ['of more than a mebibyte', 'vendor-a', 413, { body: 'x'.repeat(1024 * 1024 + 1) }],
    [
      'of more than a mebibyte with an old time, whose body is not read,',
      'vendor-a',
      401,
      { at: Date.now() - 400_000, body: 'x'.repeat(1024 * 1024 + 1) },
    ],
  ])('%s is neither recorded nor forwarded', async (_what, clientId, status, changes) => {
    const receiver = await startReceiver();
    await send(visit, { address: receiver.url });
    const before = (await reportOf(visit)).callbacks;
    expect((await portal.deliver(clientId, changes)).status).toBe(status);
    expect((await reportOf(visit)).callbacks).toEqual(before);
    expect(receiver.received).toEqual([]);
    await receiver.stop();
  });

  it('is answered 503 if the receiver does not answer within ten seconds', async () => {
    const receiver = await startReceiver(() => undefined);
    await send(visit, { address: receiver.url });
    expect((await portal.deliver('vendor-a', { id: 'silent' })).status).toBe(503);
    expect(await resultsOf('silent')).toEqual(['no answer']);
    await receiver.stop();
  });
});

it('a callback is answered 503 if the receiver answers with a status that does not exist', async () => {
  const receiver = await startReceiver(() => 999);
  await send(visit, { address: receiver.url });
  expect((await portal.deliver('vendor-a', { id: 'strange' })).status).toBe(503);
  expect(await resultsOf('strange')).toEqual(['no answer']);
  await receiver.stop();
});

it('a callback that its receiver sends back to the portal is answered 508', async () => {
  const { port } = new URL(portal.url);
  await send(visit, { address: `http://127.0.0.1:${port}/developers/callbacks/vendor-a` });
  expect((await portal.deliver('vendor-a', { id: 'circle' })).status).toBe(508);
  expect(await resultsOf('circle')).toEqual([508]);
});

describe('a developer', () => {
  it('sees and sends no callback of another client', async () => {
    await portal.deliver('vendor-a', { id: 'own' });
    expect((await reportOf(other)).callbacks.map(({ id }) => id)).not.toContain('own');
    expect(await (await other('/developers/callbacks')).text()).not.toContain('own</div>');
    expect((await send(other, {}, '/own/again')).status).toBe(404);
    expect((await fetch(`${portal.url}/developers/callbacks`)).status).toBe(401);
    const foreign = { method: 'POST', headers: { 'Sec-Fetch-Site': 'cross-site' } };
    expect((await visit('/developers/callbacks/own/again', foreign)).status).toBe(403);
    expect(await resultsOf('own')).toHaveLength(1);
  });

  it('sends a callback again with the same id and body, and a new signature', async () => {
    const receiver = await startReceiver();
    await portal.deliver('vendor-a', { id: 'again', body: '{"a": "é"}' });
    await send(visit, { address: receiver.url });
    portal.clock.advance({ seconds: 400 });
    expect((await send(visit, {}, '/again/again')).status).toBe(303);
    const [received] = receiver.received;
    if (received === undefined) throw new Error('The receiver has no callback');
    expect([received.headers['webhook-id'], received.body.toString()]).toEqual(['again', '{"a": "é"}']);
    // The signature is valid, although the body is not an order document.
    expect(() => portal.verify(received)).toThrow('no order document');
    expect(await resultsOf('again')).toEqual(['no receiver', 204]);
    await receiver.stop();
  });

  it('sends test callbacks, which a receiver accepts or refuses as the guide requires', async () => {
    const seen: string[] = [];
    const receiver = await startReceiver((received) => {
      try {
        seen.push(portal.verify(received).id);
        return 204;
      } catch (error) {
        if (!(error instanceof CallbackRefused)) throw error;
        seen.push(error.code);
        return 400;
      }
    });
    await post(visit, { address: receiver.url });
    for (const kind of ['valid', 'wrong-signature', 'old', 'duplicate']) await post(visit, { kind });
    const [duplicate, old, wrong, valid] = (await reportOf(visit)).callbacks;
    const ids = [valid?.id, 'bad_signature', 'stale', duplicate?.id, duplicate?.id];
    expect([seen, receiver.received.length]).toEqual([ids, 5]);
    expect([valid, wrong, old, duplicate].map((one) => [one?.kind, one?.attempts.length])).toEqual([
      ['valid', 1],
      ['wrong-signature', 1],
      ['old', 1],
      ['duplicate', 2],
    ]);
    await receiver.stop();
  });

  it('sees the callback secret only of a client whose secrets are public', async () => {
    const page = await (await visit('/developers/callbacks')).text();
    expect(page).not.toContain('whsec_');
    const token = await portal.tokenOf('sandbox-pms', 'sandbox-pms-secret');
    const asSandbox = await portal.signIn('sandbox-pms', token);
    expect(await (await asSandbox('/developers/callbacks')).text()).toMatch(/whsec_[\w+/]+=/);
  });

  it('sees what to do if the client has no callback', async () => {
    const third = await portal.signIn('vendor-c');
    expect(await (await third('/developers/callbacks')).text()).toContain('No callback is registered');
    const refused = await send(third, { kind: 'valid' });
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining(`Ask the operator to register ${portal.url}/developers/callbacks/vendor-c`),
    ]);
  });

  it.each([
    ['"><script>alert(1)</script>', 'Enter an address that begins with https://'],
    ['ftp://pms.example/', 'Enter an address that begins with https://'],
    ['https://user:secret@pms.example/', 'Enter an address without a user name'],
    ['own', 'Enter the address of your own system'],
  ])('cannot save the address %s', async (typed, message) => {
    const address = typed === 'own' ? `${portal.url}/developers/callbacks/vendor-a` : typed;
    const answer = await send(visit, { address });
    const page = await answer.text();
    expect([answer.status, page.includes(message), page.includes('<script>alert')]).toEqual([
      400,
      true,
      false,
    ]);
    expect((await post(visit, { address })).status).toBe(400);
    expect((await reportOf(visit)).address).toBeUndefined();
  });

  it('sees at most 50 callbacks, the newest first', async () => {
    for (let count = 0; count < 52; count += 1) await portal.deliver('vendor-a', { id: `many-${count}` });
    const shown = (await reportOf(visit)).callbacks.map(({ id }) => id);
    expect([shown.length, shown[0], shown.at(-1)]).toEqual([50, 'many-51', 'many-2']);
  });
});

it('callbacks never reach an address in a network that the operator does not allow', async () => {
  const guarded = await startCallbackPortal({ OUTBOUND_ALLOWED_NETWORKS: '192.0.2.0/24' });
  const receiver = await startReceiver();
  const developer = await guarded.signIn('vendor-a');
  const results = [];
  for (const address of [receiver.url, 'https://localhost/', 'http://169.254.169.254/', 'http://8.8.8.8/']) {
    await send(developer, { address });
    const { status } = await guarded.deliver('vendor-a', { id: 'guarded' });
    results.push([status, (await reportOf(developer)).callbacks[0]?.attempts.at(-1)?.result]);
  }
  expect(results).toEqual([
    [503, 'address_refused'],
    [503, 'address_refused'],
    [503, 'address_refused'],
    [503, 'insecure_address'],
  ]);
  expect(await (await developer('/developers/callbacks')).text()).toContain('in an internal network');
  expect(receiver.received).toEqual([]);
  await receiver.stop();
  await guarded.stop();
});
