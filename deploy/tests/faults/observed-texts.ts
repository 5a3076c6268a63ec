import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Place, rowsOf, valuesIn } from '@clinical-launch/testing';
import amqp from 'amqplib';
import { inPostgres } from './in-postgres.ts';
import { watchCommands } from './redis-commands.ts';
import { sendRequest } from './send-request.ts';
import type { System } from './system.ts';

/**
 * Runs an action and returns everything that the platform wrote meanwhile or holds afterwards, where no
 * patient, secret or token may be, with its place: each command and value that was sent to Redis, each
 * message of the broker, and at the end all values in Redis, the rows of the audit trail, the metrics and the
 * logs, also of what ran before.
 */
export async function observeTexts(
  system: System,
  act: () => Promise<void>,
): Promise<(readonly [Place, string])[]> {
  const commands: string[] = [];
  const unwatch = await watchCommands(system.redis.url, (line) => commands.push(line));
  const messages = await listenToEvents(system.rabbitMq.url);
  try {
    await act();
    return [
      ['a command to Redis', commands.join('\n')],
      ['a message to RabbitMQ', messages.texts.join('\n')],
      ['a value in Redis', (await valuesIn(system.redis.url)).join('\n')],
      ['an audit row', await rowsOfSchema(system, 'audit_trail')],
      ...(await metricsOf(system)).map((text) => ['a metric', text] as const),
      ...logsOf(system).map((text) => ['a log', text] as const),
    ];
  } finally {
    unwatch();
    await messages.stop();
  }
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
function rowsOfSchema(system: System, schema: string): Promise<string> {
  return inPostgres(system, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
       where relnamespace = $1::regnamespace and relkind in ('r', 'p') and not relispartition`,
      [schema],
    );
    const texts: string[] = [];
    for (const { name } of tables) for (const row of await rowsOf(client, name)) texts.push(row);
    return texts.join('\n');
  });
}

const metricsOf = ({ processes }: System) =>
  Promise.all(
    processes.map(async ({ adminUrl }) => (await sendRequest({ url: `${adminUrl}/metrics` })).body),
  );

const logsOf = ({ directory }: System) =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .map((name) => readFileSync(join(directory, name), 'utf8'));
