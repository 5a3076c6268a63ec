import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { until } from '@clinical-launch/testing/until';
import amqp from 'amqplib';
import { Redis } from 'ioredis';
import pg from 'pg';
import { underLoad } from './load.ts';
import { requestToken } from './open-launch.ts';
import { inPostgres } from './size.ts';
import type { System } from './system.ts';

/** A fault, and the alerts that must report it. */
export type Cause = {
  readonly alerts: readonly string[];
  /** Causes the fault. Resolves with a function that ends the fault. */
  readonly cause: () => Promise<() => Promise<void>>;
};

/**
 * Returns the faults that the tests under load do not cause. The faults of one list happen at the same time.
 * After the audit trail was killed, its claimed events wait for 20 seconds. The slow faults come last, so
 * that this time passes during them.
 */
export const causes = (system: System): readonly (readonly Cause[])[] => [
  [
    { alerts: ['RedisMemoryHigh'], cause: () => fillRedis(system) },
    { alerts: ['AuditChainBroken'], cause: () => changeRow(system) },
  ],
  [{ alerts: ['ServiceMissing'], cause: () => killAuditTrail(system) }],
  [
    {
      alerts: ['TokenSlow', 'LaunchUrlSlow', 'SecureLaunchSlow', 'SubmitSlow', 'DeliveryLate'],
      cause: () => slowDown(system),
    },
    { alerts: ['PostgresConnectionsHigh'], cause: () => occupyPostgres(system) },
    { alerts: ['EventsRefused', 'DeadLetters'], cause: () => forgeEvent(system) },
  ],
];

/**
 * Makes the PMS take longer than five seconds to accept a document, which the shortened rules (`hastened` in
 * monitoring.ts) count as late. Pauses Redis for 1.5 seconds at a time, which slows down every step of an
 * order.
 */
async function slowDown(system: System) {
  const redis = new Redis(system.redis.url);
  const ended = new AbortController();
  const again = async (everyMs: number, act: () => Promise<unknown>) => {
    while (!ended.signal.aborted) {
      await act();
      await delay(everyMs, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  };
  const { answerMs } = system.receiver;
  system.receiver.answerMs = 5200;
  const pace = { launchesPerSecond: 10, orderEvery: 2, amendEvery: 4, repeatEvery: 50, hesitateEvery: 50 };
  const loaded = underLoad(
    { directory: system.directory, platform: system.processes, ...pace },
    async (load) => {
      await load.opened(pace.launchesPerSecond);
      await Promise.all([
        again(1600, () => redis.call('CLIENT', 'PAUSE', '1500')),
        again(100, () => requestToken(system)),
      ]);
    },
  );
  return async () => {
    ended.abort();
    system.receiver.answerMs = answerMs;
    await loaded;
    redis.disconnect();
  };
}

/**
 * Stores 45 MB in PostgreSQL. In the shortened rules (`hastened` in monitoring.ts), the volume has 50 MB, so
 * PostgresDiskHigh fires after 15 seconds.
 */
export const fillDisk = (system: System) =>
  run(
    system,
    'create table ballast (content text)',
    'alter table ballast alter content set storage external',
    `insert into ballast select repeat('x', 1000000) from generate_series(1, 45)`,
  );

/**
 * Ends all leases, so that other processes immediately deliver the documents and publish the events of a
 * killed process. Work of a running process is sent twice.
 */
export async function endLeases(system: System): Promise<void> {
  await run(system, 'update order_renderer.delivery set leased_until = now() where lease is not null');
  const redis = new Redis(system.redis.url);
  for await (const streams of redis.scanStream({ type: 'stream' })) {
    for (const stream of streams as string[]) await endRelayLeases(redis, stream);
  }
  redis.disconnect();
}

async function endRelayLeases(redis: Redis, stream: string): Promise<void> {
  const groups = (await redis.xinfo('GROUPS', stream)) as unknown[];
  if (groups.length === 0) return;
  const held = (await redis.xpending(stream, 'relay', '-', '+', 1000)) as [id: string][];
  const ids = held.map(([id]) => id);
  if (ids.length > 0) await redis.xclaim(stream, 'relay', 'relay', 0, ...ids, 'IDLE', 60_000, 'JUSTID');
}

const run = (system: System, ...statements: readonly string[]): Promise<void> =>
  inPostgres(system, async (client) => {
    for (const statement of statements) await client.query(statement);
  });

async function fillRedis({ redis }: System) {
  const client = new Redis(redis.url);
  const used = /used_memory:(\d+)/.exec(await client.info('memory'))?.[1];
  await client.config('SET', 'maxmemory', Math.round(Number(used) * 1.05));
  return async () => {
    await client.config('SET', 'maxmemory', 0);
    client.disconnect();
  };
}

/**
 * Occupies 90% of PostgreSQL's connections. Opens more when the services' pools release connections.
 */
async function occupyPostgres({ postgres }: System) {
  const connect = async () => {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    return client;
  };
  const first = await connect();
  const clients = [first];
  const ended = new AbortController();
  const occupy = async () => {
    while (!ended.signal.aborted) {
      const { rows } = await first.query<{ missing: number }>(
        `select (0.9 * current_setting('max_connections')::int)::int - sum(numbackends)::int as missing
         from pg_stat_database`,
      );
      const count = Math.max(0, Number(rows[0]?.missing));
      clients.push(...(await Promise.all(Array.from({ length: count }, connect))));
      await delay(200);
    }
  };
  const occupying = occupy();
  return async () => {
    ended.abort();
    await occupying;
    await Promise.all(clients.map((client) => client.end()));
  };
}

/**
 * Publishes an event with an invalid MAC. An attacker with the broker's password can send messages, but
 * cannot sign them.
 */
async function forgeEvent({ rabbitMq }: System) {
  const connection = await amqp.connect(rabbitMq.url);
  const channel = await connection.createConfirmChannel();
  const type = 'launch.token.redeemed.v1';
  const traceparent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
  const origin = { source: '/launch-gateway', correlationId: randomUUID(), traceparent, now: new Date() };
  const forged = {
    ...createEvent(type, origin, {}),
    macs: `audit-trail=${randomBytes(32).toString('base64url')}`,
  };
  channel.publish('clinical-launch.events', type, Buffer.from(JSON.stringify(forged)));
  await channel.waitForConfirms();
  return async () => {
    await channel.purgeQueue('clinical-launch.audit-trail.dead-letters');
    await connection.close();
  };
}

/** Changes a row as a superuser, then restarts the audit trail so that it verifies all rows. */
async function changeRow(system: System) {
  await inPostgres(system, async (client) => {
    await client.query('set session_replication_role = replica');
    // The audit event of this token guarantees that a row exists.
    await requestToken(system);
    await until(async () => {
      const { rowCount } = await client.query(
        `update audit_trail.audit_event set address = '192.0.2.99'
         where (id, time) in (select id, time from audit_trail.audit_event order by time limit 1)`,
      );
      return rowCount === 1;
    });
    await client.query('delete from audit_trail.progress');
  });
  const [auditTrail] = system.replicasOf('audit-trail');
  await auditTrail?.kill();
  await auditTrail?.start();
  return async () => undefined;
}

async function killAuditTrail(system: System) {
  const [auditTrail] = system.replicasOf('audit-trail');
  await auditTrail?.kill();
  return async () => auditTrail?.start();
}
