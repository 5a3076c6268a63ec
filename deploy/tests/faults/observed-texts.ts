import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import amqp from 'amqplib';
import { Redis } from 'ioredis';
import pg from 'pg';
import { watchCommands } from './redis-commands.ts';
import { sendRequest } from './send-request.ts';
import type { System } from './system.ts';

/**
 * Runs an action and returns everything that the platform wrote meanwhile or holds afterwards, where no
 * patient, secret or token may be, by its place: each command and value that was sent to Redis, each message
 * of the broker, and at the end all values in Redis, the rows of the audit trail, the metrics and the logs,
 * also of what ran before.
 */
export async function observeTexts(
  system: System,
  act: () => Promise<void>,
): Promise<ReadonlyMap<string, string>> {
  const redis = new Redis(system.redis.url);
  const commands: string[] = [];
  const unwatch = await watchCommands(system.redis.url, (line) => commands.push(line));
  const messages = await listenToEvents(system.rabbitMq.url);
  try {
    await act();
    return new Map([
      ['the commands to Redis', commands.join('\n')],
      ['the messages of RabbitMQ', messages.texts.join('\n')],
      ['the values in Redis', await valuesOf(redis)],
      ['the audit trail', await rowsOf(system, 'audit_trail')],
      ...(await metricsOf(system)),
      ...logsOf(system),
    ]);
  } finally {
    unwatch();
    redis.disconnect();
    await messages.stop();
  }
}

/** Every value with its key. */
async function valuesOf(redis: Redis): Promise<string> {
  const texts: string[] = [];
  for await (const keys of redis.scanStream({ count: 1000 }) as AsyncIterable<string[]>) {
    for (const key of keys) texts.push(key, JSON.stringify(await valueOf(redis, key)));
  }
  return texts.join('\n');
}

async function valueOf(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  if (type === 'string') return redis.get(key);
  if (type === 'hash') return redis.hgetall(key);
  if (type === 'set') return redis.smembers(key);
  if (type === 'zset') return redis.zrange(key, '0', '-1');
  if (type === 'stream') return redis.xrange(key, '-', '+');
  // It has expired since it was listed.
  if (type === 'none') return null;
  throw new TypeError(`${key} is a ${type}`);
}

async function listenToEvents(url: string) {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  const { queue } = await channel.assertQueue('', { exclusive: true });
  await channel.bindQueue(queue, 'clinical-launch.events', '#');
  const texts: string[] = [];
  const keep = (message: amqp.ConsumeMessage | null) => {
    if (message !== null) texts.push(JSON.stringify(message.properties) + message.content.toString());
  };
  await channel.consume(queue, keep, { noAck: true });
  return { texts, stop: () => connection.close() };
}

/** Every row of every table of a schema, as JSON. */
async function rowsOf({ postgres }: System, schema: string): Promise<string> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
       where table_schema = $1 and table_type = 'BASE TABLE'`,
      [schema],
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select to_jsonb(t)::text as row from ${name} t`);
      texts.push(...rows.map(({ row }) => row));
    }
    return texts.join('\n');
  } finally {
    await client.end();
  }
}

const metricsOf = ({ processes }: System) =>
  Promise.all(
    processes.map(async ({ service, adminUrl }) => {
      const { body } = await sendRequest({ url: `${adminUrl}/metrics` });
      return [`the metrics of ${service}`, body] as const;
    }),
  );

const logsOf = ({ directory }: System) =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .map((name) => [`the log ${name}`, readFileSync(join(directory, name), 'utf8')] as const);
