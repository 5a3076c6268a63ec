import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEvent } from '@clinical-launch/contracts';
import {
  createLeakSearch,
  createTestBacking,
  createTestDatabase,
  exceptLeak,
  leaksOf,
  TestClock,
} from '@clinical-launch/testing';
import { connectRedis } from '@clinical-launch/tickets/redis';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import amqp from 'amqplib';
import pg from 'pg';
import { leaksInRedis } from '../src/leaks/redis-values.ts';
import { createRecordedLogger } from '../src/serve.ts';

/** Answers a request with the query that it was sent. */
const server = createServer((request, response) => {
  request.resume().once('end', () => response.end(request.headers['x-answer'] ?? ''));
});
let url: string;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

const request = async (path: string, init?: RequestInit) =>
  void (await (await fetch(url + path, init)).text());
const log = (note: string) => createRecordedLogger().logger.info({ note }, 'noted');

async function say(text: string): Promise<void> {
  const print = `process.stdout.write('started\\n{"level":30,"msg":"'); setTimeout(() => console.log(process.argv[1] + '"}'), 5)`;
  await once(spawn(process.execPath, ['--eval', print, text]), 'close');
}

async function store(value: string): Promise<void> {
  const redis = await connectRedis(process.env.TEST_REDIS_URL ?? '');
  await redis.set(`test-${crypto.randomUUID()}`, value, 'EX', '1');
  redis.disconnect();
}

async function send(text: string): Promise<void> {
  const connection = await amqp.connect(process.env.TEST_AMQP_URL ?? '');
  const channel = await connection.createConfirmChannel();
  const { queue } = await channel.assertQueue('', { exclusive: true });
  channel.sendToQueue(queue, Buffer.from(text));
  await channel.waitForConfirms();
  await connection.close();
}

async function insert(table: string, text: string): Promise<void> {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`create schema audit_trail; create table ${table} (data jsonb)`);
  await client.query(`insert into ${table} values ($1)`, [JSON.stringify({ note: text })]);
  await client.end();
  await database.drop();
}

async function publish(username: string): Promise<void> {
  const { bus, clock } = createTestBacking(new TestClock());
  const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
  const origin = {
    source: '/test',
    correlationId: crypto.randomUUID(),
    traceparent,
    now: new Date(clock.now()),
  };
  await bus.publish([createEvent('launch.token.redeemed.v1', origin, { user: { username } })]);
  await bus.stop();
}

type Planted = [place: string, put: (text: string) => unknown];

const places: Planted[] = [
  ['a log', log],
  ['a log', say],
  ['a metric', (text) => request('/metrics', { headers: { 'X-Answer': `a{b="${text}"} 1` } })],
  ['a URL', (text) => request(`/oltr/${text}`)],
  ['a URL', (text) => request(`/oltr?q=${text}`)],
  ['a command to Redis', store],
  ['a message to RabbitMQ', send],
  ['an event', publish],
  ['an audit row', (text) => insert('audit_trail.audit_event', text)],
  ['an outbox row', (text) => insert('outbox', text)],
];
/** In Protocol Buffers, the length before a value or the type after it may be a letter or a digit. */
const placesInBytes: Planted[] = [
  ['a span', (text) => request('/v1/traces', { method: 'POST', body: Buffer.from(`\n\x05${text}\x12`) })],
  ['a metric', (text) => request('/v1/metrics', { method: 'POST', body: text })],
];
const everyPlace = [...places, ...placesInBytes];
const secret = () => randomBytes(32).toString('base64url');

describe('a leak is found', () => {
  it.each(everyPlace)('of a patient in %s', async (place, put) => {
    for (const text of [
      'Whitfield',
      'whitfield',
      'Margaret',
      '9434765919',
      '1958-02-28',
      'pms-demo-secret',
    ]) {
      const [leak, ...others] = await leaksOf(() => put(text));
      expect(leak).toContain(`${text.slice(0, 3)}… (${text.length} characters) is in ${place}, after "`);
      expect(others).toEqual([]);
    }
  });

  it.each(everyPlace)('of a token in %s, whether it is used before or after', async (place, put) => {
    const token = secret();
    const use = () => request('/resource', { headers: { Authorization: `Bearer ${token}` } });
    const expected = [expect.stringContaining(`${token.slice(0, 3)}… (43 characters) is in ${place}`)];
    expect(await leaksOf(async () => [await use(), await put(token)])).toEqual(expected);
    expect(await leaksOf(async () => [await put(token), await use()])).toEqual(expected);
    expect(await leaksOf(() => put(token))).toEqual([]);
  });

  it.each([
    'q=Harbour%20Whitfield',
    String.raw`{"note":"Mrs\nWhitfield"}`,
    String.raw`{"note":"Mrs\u0020Whitfield"}`,
    'S\0\0\0AWhitfield, and 54 characters more',
  ])('of a patient in %j, behind an escape or a length that looks like a letter or digit', (text) => {
    const search = createLeakSearch();
    search.observe('a message to RabbitMQ', text);
    expect(search.found()).toHaveLength(1);
  });

  it.each(placesInBytes)('of a patient in %s, between bytes that look like letters', async (_place, put) => {
    expect(await leaksOf(() => put('AWhitfieldJ'))).toHaveLength(1);
  });

  it('of an address in a URL, however it is written', async () => {
    for (const text of ['12 Harbour Lane', '12%20Harbour%20Lane', '12+Harbour+Lane', '12%20HARBOUR%20LANE']) {
      expect(await leaksOf(() => request(`/list?q=${text}`))).toHaveLength(1);
    }
    expect(await leaksOf(() => request(`/list/margaret.whitfield%40example.org`))).not.toEqual([]);
  });

  it('of a user in a log, a span and a metric: events name users, and URLs search for them', async () => {
    const leaking: string[] = [];
    for (const [place, put] of everyPlace) {
      if ((await leaksOf(() => put('Okonkwo'))).length > 0) leaking.push(place);
    }
    expect(new Set(leaking)).toEqual(new Set(['a log', 'a span', 'a metric']));
  });

  const jwt = `${Buffer.from('{"alg":"ES256","typ":"at+jwt"}').toString('base64url')}.${secret()}.${secret()}`;
  const usedAs: [string, (value: string) => unknown][] = [
    [
      'a Basic secret',
      (text) => request('/', { headers: { Authorization: `Basic ${btoa(`pms:${text}`)}` } }),
    ],
    ['a cookie', (text) => request('/', { headers: { Cookie: `a=1; session=${text}` } })],
    [
      'a token of node:http',
      (text) => once(get(url, { headers: { Authorization: `DPoP ${text}` } }), 'response'),
    ],
    ['a launch token', (text) => request(`/secureLaunch?launchToken=${text}&codeVerifier=${secret()}`)],
    ['a code verifier', (text) => request(`/secureLaunch?launchToken=${secret()}&codeVerifier=${text}`)],
    ['a launch identifier', (text) => request(`/partner?iss=https://launch.example&launch=${text}`)],
    ['a code', (text) => request(`/callback?code=${text}&state=1`)],
    [
      'a secret of a form',
      (text) => request('/token', { method: 'POST', body: new URLSearchParams({ client_secret: text }) }),
    ],
  ];
  it.each(usedAs)('of %s, but not where it belongs', async (_name, use) => {
    const value = secret();
    expect(await leaksOf(() => use(value))).toEqual([]);
    expect(await leaksOf(async () => [await use(value), log(value)])).toHaveLength(1);
    expect(await leaksOf(async () => [await use(value), await request(`/x?next=${value}`)])).toHaveLength(1);
  });

  it('of a JWT without its header, which is no secret', async () => {
    const use = () => request('/resource', { headers: { Authorization: `Bearer ${jwt}` } });
    const [header = ''] = jwt.split('.');
    expect(await leaksOf(async () => [await use(), log(jwt)])).toHaveLength(2);
    expect(await leaksOf(async () => [await use(), log(header)])).toEqual([]);
  });
});

describe('the search of Redis at the end of a run', () => {
  it('finds what any process stored there', async () => {
    const redis = await connectRedis(process.env.TEST_REDIS_URL ?? '');
    const key = `test-${crypto.randomUUID()}`;
    exceptLeak('a command to Redis', 'Whitfield', 'This test plants it');
    await redis.hset(key, 'note', 'Whitfield');
    expect(await leaksInRedis(process.env.TEST_REDIS_URL ?? '')).toContainEqual(
      expect.stringContaining('Whi… (9 characters) is in a value in Redis'),
    );
    await redis.del(key);
    redis.disconnect();
  });
});

describe('no leak', () => {
  it.each(places)('is a part of a longer number or word in %s', async (_place, put) => {
    for (const text of ['1719580228123456789', 'x9434765919', 'aWhitfield', 'Whitfields']) {
      expect(await leaksOf(() => put(text))).toEqual([]);
    }
  });

  it('is a hash, or what was never used', async () => {
    const token = secret();
    const hash = createHash('sha256').update(token).digest('base64url');
    const use = () => request('/', { headers: { Authorization: `Bearer ${token}` } });
    expect(await leaksOf(async () => [await use(), await store(hash), log(hash), log(secret())])).toEqual([]);
  });

  it('is a value that a test excepts in one place', async () => {
    const put = async () => [log('Whitfield'), log('Pemberton'), await request('/Whitfield')];
    const except = () => exceptLeak('a log', 'Whitfield', 'This test says so');
    expect(await leaksOf(put)).toHaveLength(3);
    expect(await leaksOf(async () => [except(), await put()])).toEqual([
      expect.stringMatching(/^Pem.* in a log/),
      expect.stringMatching(/^Whi.* in a URL/),
    ]);
  });
});
