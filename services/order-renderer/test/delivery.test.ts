import { type AddressInfo, createServer, type Socket } from 'node:net';
import { verifyCallback } from '@clinical-launch/pms-client';
import { type Measured, startMeasuring } from '@clinical-launch/testing/measured';
import { until } from '@clinical-launch/testing/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { answering, type CallbackReceiver, startReceiver } from './callback-receiver.ts';
import {
  aRegistry,
  aSecret,
  type DeliveringPlatform,
  sealed,
  signersOf,
  startDeliveringPlatform,
} from './delivering-platform.ts';
import { orderPatient } from './submitted-order.ts';

const secret = aSecret();
const day = 24 * 3600;
let platform: DeliveringPlatform;
let measured: Measured;
let receiver: CallbackReceiver;
const registered = (...secrets: ReturnType<typeof sealed>[]) =>
  aRegistry({ 'pms-demo': { url: receiver.url, secrets } });

beforeAll(async () => {
  measured = startMeasuring();
  receiver = await startReceiver();
  const callbacks = { connectTimeoutMs: 1000, timeoutMs: 2000 };
  platform = await startDeliveringPlatform({ registry: registered(sealed(secret)), callbacks });
});
afterAll(async () => {
  await platform.stop();
  await receiver.stop();
  measured.stop();
});
beforeEach(() => {
  receiver.behave(answering(204));
  platform.register(registered(sealed(secret)));
});

/**
 * Advances the clock until the launch has `count` events. A step is longer than any wait between attempts.
 */
async function passUntilTold(launchId: string, count: number): Promise<void> {
  for (let seen = 0; platform.deliveryStory(launchId).length < count; ) {
    await until(
      () => platform.failuresOf(launchId).length > seen || platform.deliveryStory(launchId).length >= count,
    );
    seen = platform.failuresOf(launchId).length;
    platform.clock.advance({ seconds: 3600 });
  }
}

it('the document of a client without a callback is not posted', async () => {
  const before = receiver.received.length;
  const { launchId } = await platform.order({ clientId: 'pms-other' });
  const { guid } = await platform.order();
  await receiver.receives(1, guid);
  expect(receiver.received).toHaveLength(before + 1);
  expect(platform.deliveryStory(launchId)).toEqual([]);
});

describe('the document of a client with a callback', () => {
  it('is posted to the callback address, signed according to Standard Webhooks', async () => {
    const { guid, launchId } = await platform.order({ orderVersion: 3 });
    const [callback] = await receiver.receives(1, guid);
    if (callback === undefined) throw new Error('Nothing came');
    expect(signersOf(callback, [secret])).toEqual([secret]);
    const now = () => platform.clock.now();
    const { id, type, timestamp, data } = verifyCallback({ ...callback, secrets: [secret], now });
    expect([callback.path, callback.headers['content-type'], type]).toEqual([
      '/callbacks',
      'application/json',
      'order.document',
    ]);
    expect(timestamp).toBe(new Date(now()).toISOString());
    expect(data).toEqual({
      orderGuid: guid,
      orderVersion: 3,
      launchId,
      messageId: id,
      document: expect.any(String),
    });
    expect(data.document).toContain(`<messageId>${id}</messageId>`);
    expect(await platform.awaitDeliveryEvents(launchId, 1)).toEqual([
      [
        'order.document.delivered.v1',
        {
          patient: orderPatient,
          orderGuid: guid,
          messageId: id,
          issuer: 'http://localhost/idp/demo/v2.0',
          clientId: 'pms-demo',
          attempts: 1,
        },
      ],
    ]);
  });

  it('is the same as the document that a download returns', async () => {
    const { guid, launchId, cookie } = await platform.submitOrder();
    const { body } = await platform.read(`/orders/${guid}.xml`, cookie);
    const [callback] = await receiver.receives(1, guid);
    expect(JSON.parse(callback?.body ?? '')).toMatchObject({ data: { document: body, launchId } });
  });

  it('is posted once, however often its event is delivered', async () => {
    const { guid, launchId } = await platform.order();
    await platform.awaitDeliveryEvents(launchId, 1);
    const event = platform.published.find(({ correlationid }) => correlationid === launchId);
    if (event === undefined) throw new Error('There is no event');
    await platform.publish(event);
    await platform.order();
    platform.clock.advance({ seconds: 60 });
    const { guid: later } = await platform.order();
    await receiver.receives(1, later);
    expect(await receiver.receives(1, guid)).toHaveLength(1);
  });

  it('is signed with the current secret, and with both secrets during a rotation', async () => {
    const [next, ended, foreign] = [aSecret(), aSecret(), 'k.AAAA'.padEnd(60, 'A')];
    const signers = async (...secrets: ReturnType<typeof sealed>[]) => {
      platform.register(registered(...secrets));
      const { guid } = await platform.order();
      const [callback] = await receiver.receives(1, guid);
      return callback && signersOf(callback, [secret, next, ended]);
    };
    expect(await signers(sealed(secret, '2026-03-03T00:00:00Z'), sealed(next))).toEqual([secret, next]);
    expect(await signers(sealed(ended, '2026-03-02T00:00:00Z'), sealed(next))).toEqual([next]);
    expect(await signers({ sealed: foreign }, sealed(next))).toEqual([next]);
  });

  it('leaves no patient data, secret or address in logs and events', async () => {
    const { guid } = await platform.order();
    await receiver.receives(1, guid);
    const written = `${platform.lines.join('')}${JSON.stringify(platform.published)}`;
    expect(written).not.toMatch(/Súilleabháin|9434765919|whsec_|\/callbacks/);
  });
});

describe('a failed callback', () => {
  it('is retried after a wait with the same message until it succeeds', async () => {
    receiver.behave(answering(503));
    const { guid, launchId } = await platform.order();
    const [first] = await receiver.receives(1, guid);
    await until(() => platform.failuresOf(launchId).length === 1);
    platform.clock.advance({ seconds: 5 });
    await receiver.receives(2, guid);
    await until(() => platform.failuresOf(launchId).length === 2);
    receiver.behave(answering(200));
    platform.clock.advance({ seconds: 10 });
    const [, second, third] = await receiver.receives(3, guid);
    const ids = [first, second, third].map((callback) => callback?.headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
    expect(third?.body).toBe(first?.body);
    expect(Number(third?.headers['webhook-timestamp']) - Number(first?.headers['webhook-timestamp'])).toBe(
      15,
    );
    expect(third && signersOf(third, [secret])).toEqual([secret]);
    const failure = { reason: 'not_accepted', status: 503, attempts: 1, isFinal: false };
    expect(await platform.awaitDeliveryEvents(launchId, 2)).toEqual([
      ['order.document.delivery.failed.v1', expect.objectContaining(failure)],
      ['order.document.delivered.v1', expect.objectContaining({ attempts: 3 })],
    ]);
  });

  it('is not retried before its wait has ended', async () => {
    receiver.behave(answering(500));
    const { guid, launchId } = await platform.order();
    await until(() => platform.failuresOf(launchId).length === 1);
    platform.clock.advance({ seconds: 2.4 });
    receiver.behave(answering(204));
    const { guid: other } = await platform.order();
    await receiver.receives(1, other);
    expect(await receiver.receives(1, guid)).toHaveLength(1);
  });

  it('is retried at growing intervals for a day and then never again', async () => {
    receiver.behave(answering(500));
    const { launchId, guid } = await platform.order();
    const startedAt = platform.clock.now();
    await passUntilTold(launchId, 2);
    const attempts = (await receiver.receives(2, guid)).length;
    const times = receiver.received
      .filter(({ orderGuid }) => orderGuid === guid)
      .map(({ headers }) => Number(headers['webhook-timestamp']) - Math.floor(startedAt / 1000));
    expect(attempts).toBeGreaterThan(20);
    expect(times.at(-1)).toBe(day);
    const failure = { reason: 'not_accepted', status: 500 };
    expect(platform.deliveryStory(launchId)).toEqual([
      [
        'order.document.delivery.failed.v1',
        expect.objectContaining({ ...failure, attempts: 1, isFinal: false }),
      ],
      ['order.document.delivery.failed.v1', expect.objectContaining({ ...failure, attempts, isFinal: true })],
    ]);
    platform.clock.advance({ seconds: day });
    receiver.behave(answering(204));
    const { guid: later } = await platform.order();
    await receiver.receives(1, later);
    expect(await receiver.receives(1, guid)).toHaveLength(attempts);
  });

  it('is not retried after 410', async () => {
    receiver.behave(answering(410));
    const { launchId } = await platform.order();
    expect(await platform.awaitDeliveryEvents(launchId, 1)).toEqual([
      [
        'order.document.delivery.failed.v1',
        expect.objectContaining({ reason: 'gone', status: 410, attempts: 1, isFinal: true }),
      ],
    ]);
  });

  it('counts as pending with its age until its last attempt, and then as dead', async () => {
    const read = async (name: string) => {
      const { '': value = 0 } = await measured.read(`clinical_launch.delivery.${name}`);
      return Number(value);
    };
    await until(async () => (await read('pending')) === 0);
    const dead = await read('dead');
    const { gone = 0 } = await measured.read('clinical_launch.delivery.attempts');
    receiver.behave(answering(503));
    const { launchId } = await platform.order();
    await until(() => platform.failuresOf(launchId).length === 1);
    platform.clock.advance({ seconds: 2 });
    expect([await read('pending'), await read('oldest_age'), await read('dead')]).toEqual([1, 2, dead]);
    receiver.behave(answering(410));
    platform.clock.advance({ seconds: 5 });
    await platform.awaitDeliveryEvents(launchId, 2);
    await until(async () => (await read('dead')) === dead + 1);
    expect(await read('pending')).toBe(0);
    const attempts = await measured.read('clinical_launch.delivery.attempts');
    expect(attempts).toMatchObject({ gone: Number(gone) + 1, not_accepted: expect.any(Number) });
  });

  it('is not retried after the callback was removed from the registry', async () => {
    receiver.behave(answering(503));
    const { launchId, guid } = await platform.order();
    await until(() => platform.failuresOf(launchId).length === 1);
    platform.register(aRegistry({}));
    platform.clock.advance({ seconds: 5 });
    const [, end] = await platform.awaitDeliveryEvents(launchId, 2);
    expect(end?.[1]).toMatchObject({ reason: 'unregistered', isFinal: true });
    expect(await receiver.receives(1, guid)).toHaveLength(1);
  });

  it('is retried while no secret can be opened, and succeeds when a secret can be opened', async () => {
    platform.register(registered({ sealed: 'gone.'.padEnd(60, 'A') }));
    const { launchId, guid } = await platform.order();
    const [failure] = await platform.awaitDeliveryEvents(launchId, 1);
    expect(failure?.[1]).toMatchObject({ reason: 'no_usable_secret', isFinal: false });
    platform.register(registered(sealed(secret)));
    platform.clock.advance({ seconds: 5 });
    expect(await receiver.receives(1, guid)).toHaveLength(1);
  });

  it.each([
    [429, '120', 119, 120],
    [503, '120', 119, 120],
    [503, new Date(Date.UTC(2100, 0)).toUTCString(), 3599, 3600],
    [503, '999999999', 3599, 3600],
    [503, 'soon', 2.4, 5],
    [500, '120', 2.4, 5],
  ])(
    'with status %i and Retry-After: %s is retried after more than %d and at most %d seconds',
    async (...row) => {
      const [status, retryAfter, tooSoon, seconds] = row;
      receiver.behave(answering(status, { 'Retry-After': retryAfter }));
      const { launchId, guid } = await platform.order();
      await until(() => platform.failuresOf(launchId).length === 1);
      receiver.behave(answering(204));
      platform.clock.advance({ seconds: tooSoon });
      const { guid: other } = await platform.order();
      await receiver.receives(1, other);
      expect(await receiver.receives(1, guid)).toHaveLength(1);
      platform.clock.advance({ seconds: seconds - tooSoon });
      expect(await receiver.receives(2, guid)).toHaveLength(2);
    },
  );
});

describe('a hostile receiver', () => {
  const slow: [string, Parameters<CallbackReceiver['behave']>[0]][] = [
    ['never answers', () => undefined],
    [
      'sends its header byte by byte',
      ({ socket }) => {
        const timer = setInterval(() => socket.write('x'), 20).unref();
        socket.write('HTTP/1.1 200 OK\r\nX-');
        socket.once('close', () => clearInterval(timer));
      },
    ],
    [
      'sends 102 Processing without end',
      (_request, response) => {
        const timer = setInterval(() => response.writeProcessing(), 20).unref();
        response.once('close', () => clearInterval(timer));
      },
    ],
  ];
  const callbacks: Record<string, Parameters<typeof aRegistry>[0][string]> = {};
  /** Registers a client. Keeps the clients that concurrent tests have registered. */
  const register = (clientId: string, url: string) => {
    callbacks[clientId] = { url, secrets: [sealed(aSecret())] };
    platform.register(aRegistry(callbacks));
  };
  it.concurrent.each(slow)(
    'that %s is disconnected at the timeout and delays no other client',
    async (what, behaviour) => {
      const [hostile, other] = [await startReceiver(), await startReceiver()];
      register(`${what} itself`, hostile.url);
      register(`${what} to another`, other.url);
      hostile.behave(behaviour);
      const { launchId, guid: stuck } = await platform.order({ clientId: `${what} itself` });
      await hostile.receives(1, stuck);
      const { guid } = await platform.order({ clientId: `${what} to another` });
      await other.receives(1, guid);
      expect(platform.failuresOf(launchId)).toEqual([]);
      const [failure] = await platform.awaitDeliveryEvents(launchId, 1);
      expect(failure?.[1]).toMatchObject({ reason: 'timeout', isFinal: false });
      await hostile.stop();
      await other.stop();
    },
  );

  it.each([
    ['an endless answer', (write: () => boolean) => void setInterval(write, 1).unref()],
    ['a huge answer', (write: () => boolean) => void Array.from({ length: 200 }, write)],
  ])(
    'that sends %s is disconnected after its status, which decides the result of the attempt',
    async (_what, begin) => {
      let isLeft = false;
      receiver.behave((_request, response) => {
        response.writeHead(200).once('close', () => (isLeft = true));
        begin(() => response.destroyed || response.write(Buffer.alloc(16_384)));
      });
      const { launchId } = await platform.order();
      const [delivered] = await platform.awaitDeliveryEvents(launchId, 1);
      expect(delivered?.[0]).toBe('order.document.delivered.v1');
      await until(() => isLeft);
    },
  );

  it('that redirects causes a failed attempt, and the target of the redirect receives no request', async () => {
    const elsewhere = await startReceiver();
    for (const status of [301, 302, 303, 307, 308]) {
      receiver.behave(answering(status, { Location: elsewhere.url }));
      const { launchId } = await platform.order();
      const [failure] = await platform.awaitDeliveryEvents(launchId, 1);
      expect(failure?.[1]).toMatchObject({ reason: 'redirected', status, isFinal: false });
    }
    expect(elsewhere.received).toEqual([]);
    await elsewhere.stop();
  });

  it.each([
    [
      'a header that is too long',
      (request: { socket: NodeJS.WritableStream }) =>
        request.socket.end(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`),
    ],
    [
      'an answer that is not HTTP',
      (request: { socket: NodeJS.WritableStream }) => request.socket.end('hello'),
    ],
  ])('that sends %s causes a failed attempt', async (_what, behaviour) => {
    receiver.behave(behaviour);
    const { launchId } = await platform.order();
    const [failure] = await platform.awaitDeliveryEvents(launchId, 1);
    expect(failure?.[1]).toMatchObject({ reason: 'bad_answer', isFinal: false });
  });

  it.concurrent.each([
    ['accepts no connection', 'unreachable', false],
    ['never ends the TLS handshake', 'timeout', true],
  ])('that %s causes a failed attempt, which is not final', async (what, reason, isListening) => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const close = () => new Promise((resolve) => server.close(resolve));
    if (!isListening) await close();
    register(what, `https://127.0.0.1:${port}/`);
    const { launchId } = await platform.order({ clientId: what });
    const [failure] = await platform.awaitDeliveryEvents(launchId, 1);
    expect(failure?.[1]).toMatchObject({ reason, isFinal: false });
    for (const socket of sockets) socket.destroy();
    if (isListening) await close();
  });
});

describe('an order amended before its document was delivered', () => {
  afterEach(() => receiver.behave(answering(204)));

  it('is delivered in its newest version, and never in an older version afterwards', async () => {
    receiver.behave(answering(503));
    const { guid, launchId } = await platform.order({ familyName: 'Older' });
    await until(() => platform.failuresOf(launchId).length === 1);
    receiver.behave(answering(204));
    const newer = await platform.order({ guid, orderVersion: 2, familyName: 'Newer' });
    const [, second] = await receiver.receives(2, guid);
    expect(second?.body).toContain('Newer');
    await platform.awaitDeliveryEvents(newer.launchId, 1);
    platform.clock.advance({ seconds: day });
    await platform.order({ guid, familyName: 'Late', orderVersion: 1 });
    const { guid: later } = await platform.order();
    await receiver.receives(1, later);
    expect(await receiver.receives(2, guid)).toHaveLength(2);
    expect(await platform.awaitDeliveryEvents(launchId, 1)).toHaveLength(1);
  });

  it('is delivered in the newer version only after the older version has been sent', async () => {
    const answers: (() => void)[] = [];
    receiver.behave((_request, response) => void answers.push(() => response.writeHead(204).end()));
    const older = await platform.order({ familyName: 'Older' });
    await receiver.receives(1, older.guid);
    const newer = await platform.order({ guid: older.guid, orderVersion: 2, familyName: 'Newer' });
    expect(await receiver.receives(1, older.guid)).toHaveLength(1);
    receiver.behave(answering(204));
    for (const answer of answers) answer();
    const [, second] = await receiver.receives(2, older.guid);
    expect(second?.body).toContain('Newer');
    const reported = [
      await platform.awaitDeliveryEvents(older.launchId, 1),
      await platform.awaitDeliveryEvents(newer.launchId, 1),
    ];
    expect(reported.map(([event]) => event?.[0])).toEqual([
      'order.document.delivered.v1',
      'order.document.delivered.v1',
    ]);
  });
});
