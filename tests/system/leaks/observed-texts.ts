import { randomUUID } from 'node:crypto';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { startRedis } from '@clinical-launch/testing/servers/redis';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { until } from '@clinical-launch/testing/until';
import amqp from 'amqplib';
import { Redis } from 'ioredis';
import pg from 'pg';
import { type Collector, startCollector } from '../../faults/collector.ts';
import { watchCommands } from '../../faults/redis-commands.ts';
import { run } from '../run-command.ts';
import type { Place } from './search.ts';
import { recordTraffic } from './traffic.ts';

/** The texts of a run that must contain no patient data, secret or token, and the secrets that the run used. */
export type Observed = {
  readonly texts: readonly (readonly [Place, string])[];
  readonly secrets: ReadonlySet<string>;
};

/**
 * Runs an action against the platform with real servers, and returns all recorded texts. The texts are the
 * trace-level log, spans, metrics, commands to Redis, the final values in Redis, events, rows and request
 * URLs.
 * @param act receives the address of the platform
 */
export async function observe(act: (baseUrl: string) => Promise<void>): Promise<Observed> {
  const namespace = `test-${randomUUID()}`;
  const [redis, database, collector] = await Promise.all([
    startRedis(),
    createTestDatabase(),
    startCollector(),
  ]);
  const commands: string[] = [];
  const unwatch = await watchCommands(redis.url, (line) => commands.push(line));
  const messages = await listenToEvents(process.env['TEST_AMQP_URL'] ?? '', namespace);
  const adminPort = await findFreePort();
  const platform = run(process.execPath, ['tools/platform/src/main.ts'], {
    REDIS_URL: redis.url,
    AMQP_URL: process.env['TEST_AMQP_URL'],
    AMQP_NAMESPACE: namespace,
    DATABASE_URL: database.url,
    PORT: String(await findFreePort()),
    ADMIN_PORT: String(adminPort),
    LOG_LEVEL: 'trace',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    REFUSALS_PER_ADDRESS: '0',
  });
  const [, baseUrl = ''] = await platform.said(/^ready (.*)$/m);
  const traffic = recordTraffic();
  try {
    await act(baseUrl);
    traffic.stop();
    await settle(database.url, collector);
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    platform.child.kill('SIGTERM');
    await platform.exited;
    return {
      secrets: traffic.secrets,
      texts: [
        ['a log', platform.output()],
        ['a span', collector.text()],
        ['a metric', metrics],
        ['a URL', traffic.urls.join('\n')],
        ['a command to Redis', commands.join('\n')],
        ['a value in Redis', await valuesIn(redis.url)],
        ['an event', messages.texts.join('\n')],
        ...(await rowsIn(database.url)),
      ],
    };
  } finally {
    traffic.stop();
    unwatch();
    await messages.stop();
    await Promise.all([redis.stop(), database.drop(), collector.stop()]);
  }
}

/**
 * Waits until the outboxes in PostgreSQL are empty, and the numbers of audit rows and spans no longer change.
 */
async function settle(databaseUrl: string, collector: Collector): Promise<void> {
  let before = '';
  await until(async () => {
    const now = await connected(databaseUrl, async (client) => {
      const { rows } = await client.query<{ waiting: string; stored: string }>(
        `select (select count(*) from ordering.outbox) + (select count(*) from order_renderer.outbox) as waiting,
                (select count(*) from audit_trail.audit_event) as stored`,
      );
      return `${rows[0]?.waiting} ${rows[0]?.stored} ${collector.spans.length}`;
    });
    const isStill = now === before && now.startsWith('0 ');
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 500));
    return isStill;
  });
}

async function listenToEvents(url: string, namespace: string) {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  const exchange = `${namespace}.events`;
  await channel.assertExchange(exchange, 'topic', { durable: true });
  const { queue } = await channel.assertQueue('', { exclusive: true });
  await channel.bindQueue(queue, exchange, '#');
  const texts: string[] = [];
  const keep = (message: amqp.ConsumeMessage | null) => {
    if (message !== null) texts.push(JSON.stringify(message.properties) + message.content.toString());
  };
  await channel.consume(queue, keep, { noAck: true });
  return { texts, stop: () => connection.close() };
}

/** Returns all keys and values in Redis. */
async function valuesIn(url: string): Promise<string> {
  const redis = new Redis(url);
  try {
    const keys = await redis.keys('*');
    const values = await Promise.all(keys.map(async (key) => JSON.stringify(await valueOf(redis, key))));
    return [...keys, ...values].join('\n');
  } finally {
    redis.disconnect();
  }
}

async function valueOf(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  if (type === 'string') return redis.get(key);
  if (type === 'hash') return redis.hgetall(key);
  if (type === 'set') return redis.smembers(key);
  if (type === 'zset') return redis.zrange(key, '0', '-1');
  if (type === 'stream') return redis.xrange(key, '-', '+');
  // The key has expired since it was listed.
  if (type === 'none') return null;
  throw new TypeError(`${key} is a ${type}`);
}

/** Returns the rows of the audit trail, and the remaining rows in the outboxes of other services. */
const rowsIn = (url: string): Promise<(readonly [Place, string])[]> =>
  connected(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string; schema: string }>(
      `select c.oid::regclass::text as name, nspname as schema
       from pg_class c join pg_namespace n on n.oid = relnamespace
       where relkind in ('r', 'p') and not relispartition and (nspname = 'audit_trail' or relname = 'outbox')`,
    );
    const texts: (readonly [Place, string])[] = [];
    for (const { name, schema } of tables) {
      const { rows } = await client.query<{ row: string }>(`select to_jsonb(t)::text as row from ${name} t`);
      const text = rows.map(({ row }) => row).join('\n');
      texts.push([schema === 'audit_trail' ? 'an audit row' : 'an outbox row', text]);
    }
    return texts;
  });

async function connected<Result>(url: string, act: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.end();
  }
}
