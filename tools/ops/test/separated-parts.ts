import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventSource } from '@clinical-launch/contracts/events/cloud-event';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import type { PrivateServer } from '@clinical-launch/testing/servers/private-server';
import { type PrivateRabbitMq, startRabbitMq } from '@clinical-launch/testing/servers/rabbitmq';
import { startRedis } from '@clinical-launch/testing/servers/redis';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import pg from 'pg';
import { brokerAccess, databaseAccess, eventSourceNames } from '../src/access.ts';
import { addressAs, redisUsers } from './part-users.ts';
import { runOps, runOpsHere } from './run-ops.ts';

/** Real servers on which every service has its own user, created by the operator's commands. */
export type SeparatedParts = {
  readonly redis: PrivateServer;
  readonly rabbitMq: PrivateRabbitMq;
  /** The URL of Redis with the credentials of an administrator. Only the test uses it. */
  readonly redisAdmin: string;
  /** Returns the addresses of the servers that a service or the operator uses, by setting. */
  addressesOf(name: EventSource): Readonly<Record<string, string>>;
  /** The URL of RabbitMQ with the credentials of the operator, who replays dead letters. */
  readonly operatorUrl: string;
  stop(): Promise<void>;
};

/** Starts the servers, and runs `migrate` and `access`. @throws Error with the output of a failed command */
export async function startSeparatedParts(): Promise<SeparatedParts> {
  const directory = mkdtempSync(join(tmpdir(), 'clinical-launch-separation-'));
  const secrets = join(directory, 'services');
  const writeSecret = (service: string, file: string, address: string) => {
    mkdirSync(join(secrets, service), { recursive: true });
    writeFileSync(join(secrets, service, file), address);
  };
  const database = await createTestDatabase();
  const suffix = database.url.slice(-8);
  const userOf = (service: string) => `${service}-${suffix}`;
  for (const service of Object.keys(databaseAccess)) {
    writeSecret(service, 'database-url', addressAs(userOf(service), database.url));
  }
  const [redis, rabbitMq, migration] = await Promise.all([
    startRedis(),
    startRabbitMq(),
    runOps(['migrate'], { SERVICE_SECRETS_DIR: secrets, DATABASE_URL: database.url }),
  ]);
  const stop = async () => {
    // Kills RabbitMQ, because an orderly shutdown takes a second and the data is not needed.
    await rabbitMq.kill();
    await Promise.all([redis.stop(), rabbitMq.stop(), database.drop()]);
    await dropRoles(database.url, eventSourceNames.map(userOf));
    rmSync(directory, { recursive: true });
  };
  const addresses = (service: string): Record<string, string> => ({
    REDIS_URL: addressAs(userOf(service), redis.url),
    ...(service in brokerAccess ? { AMQP_URL: addressAs(userOf(service), rabbitMq.url) } : {}),
    ...(service in databaseAccess ? { DATABASE_URL: addressAs(userOf(service), database.url) } : {}),
  });
  const operatorUrl = addressAs(userOf('operator'), rabbitMq.url);
  const redisAdmin = addressAs('admin', redis.url);
  try {
    assertSuccess('migrate', migration);
    for (const service of eventSourceNames) {
      const { REDIS_URL: redisUrl = '', AMQP_URL: amqpUrl } = addresses(service);
      writeSecret(service, 'redis-url', redisUrl);
      if (amqpUrl !== undefined) writeSecret(service, 'amqp-url', amqpUrl);
    }
    writeSecret('operator', 'amqp-url', operatorUrl);
    assertSuccess('access', await runOpsHere(['access', directory], { SERVICE_SECRETS_DIR: secrets }));
    await Promise.all([
      createRedisUsers(redis.url, redisUsers(readFileSync(join(directory, 'users.acl'), 'utf8'))),
      rabbitMq.control('import_definitions', join(directory, 'definitions.json')),
      rabbitMq.control('delete_user', 'guest'),
    ]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { redis, rabbitMq, redisAdmin, operatorUrl, addressesOf: addresses, stop };
}

/** Creates the users with `ACL SETUSER`, as on a server without an ACL file. */
async function createRedisUsers(url: string, users: readonly string[][]): Promise<void> {
  const redis = await connectRedis(url);
  for (const user of users) await redis.call('ACL', 'SETUSER', ...user);
  redis.disconnect();
}

async function dropRoles(databaseUrl: string, names: readonly string[]): Promise<void> {
  const server = new URL(databaseUrl);
  server.pathname = '/postgres';
  const client = new pg.Client({ connectionString: server.href });
  await client.connect();
  for (const name of names) await client.query(`drop role if exists ${pg.escapeIdentifier(name)}`);
  await client.end();
}

function assertSuccess(command: string, { code, errors }: { code: number; errors: string }): void {
  if (code !== 0) throw new Error(`${command}: ${errors}`);
}
