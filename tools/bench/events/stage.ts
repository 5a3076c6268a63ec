import { readdirSync, readFileSync } from 'node:fs';
import { openSchema } from '@clinical-launch/audit-trail/store/tables';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { readSharedEventKeys } from '@clinical-launch/process/event-keys';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import { RedisOutbox } from '@clinical-launch/redis/redis-outbox';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { startPostgres } from '@clinical-launch/testing/servers/postgres';
import type { PrivateServer } from '@clinical-launch/testing/servers/private-server';
import { startRabbitMq } from '@clinical-launch/testing/servers/rabbitmq';
import { startRedis } from '@clinical-launch/testing/servers/redis';
import { sql } from 'kysely';
import { keepAll, startMeasured, useEveryCore } from '../processes.ts';
import { writeRegistry } from '../registry.ts';

type AuditDatabase = Awaited<ReturnType<typeof openSchema>>;

type StoredRow = { readonly id: string; readonly row: number };

/**
 * The programs that an event passes through: Redis with the outbox, RabbitMQ, one audit-trail process and
 * PostgreSQL.
 */
export type Stage = {
  append(event: CloudEvent): Promise<void>;
  /** Returns the process ids of each program, including child processes. */
  processes(): Readonly<Record<'audit-trail' | 'RabbitMQ' | 'PostgreSQL' | 'Redis', readonly number[]>>;
  /** Returns the number of the newest row, or 0 if there are no rows. */
  newestRow(): Promise<number>;
  /** Returns the rows after this row in order, with the ids of their events. */
  rowsAfter(row: number): Promise<readonly StoredRow[]>;
  /** Pauses the audit-trail process, so that events wait. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
};

/** Starts the programs. They share all cores with each other and with the load. */
export async function openStage(): Promise<Stage> {
  await useEveryCore();
  const { kept, stop } = keepAll();
  const [redis, rabbitMq, postgres] = await Promise.all([
    kept(startRedis()),
    kept(startRabbitMq()),
    kept(startPostgres()),
  ]);
  const registry = await kept(writeRegistry());
  const auditTrail = await kept(
    startMeasured({
      program: 'services/audit-trail/src/main.ts',
      usesEveryCore: true,
      environment: {
        REDIS_URL: redis.url,
        AMQP_URL: rabbitMq.url,
        DATABASE_URL: postgres.url,
        PUBLIC_URL: 'http://launch.example',
        LOG_LEVEL: 'warn',
        REGISTRY_FILE: registry.path,
        // The bench sends no searches, so audit-trail fetches no keys from this address.
        IDENTITY_PROVIDER_URL: 'http://127.0.0.1:1',
      },
    }),
  );
  const client = await connectRedis(redis.url);
  await kept(Promise.resolve({ stop: async () => client.disconnect() }));
  const { writeEvent } = readSharedEventKeys({});
  const outbox = new RedisOutbox({ redis: client, writeEvent });
  const storage = await openPostgresStorage({ url: postgres.url, applicationName: 'bench' });
  await kept(Promise.resolve({ stop: () => storage.close() }));
  const database = await openSchema(storage);
  return {
    append: (event) => outbox.append([event]),
    processes: () => ({
      'audit-trail': [auditTrail.pid],
      RabbitMQ: familyOf(rabbitMq),
      PostgreSQL: familyOf(postgres),
      Redis: familyOf(redis),
    }),
    newestRow: () => newestRow(database),
    rowsAfter: (row) => rowsAfter(database, row),
    pause: () => void process.kill(auditTrail.pid, 'SIGSTOP'),
    resume: () => void process.kill(auditTrail.pid, 'SIGCONT'),
    stop,
  };
}

async function newestRow(database: AuditDatabase): Promise<number> {
  const { newest } = await database
    .selectFrom('audit_event')
    .select(sql<string | null>`max(sequence)`.as('newest'))
    .executeTakeFirstOrThrow();
  return Number(newest ?? 0);
}

async function rowsAfter(database: AuditDatabase, row: number): Promise<readonly StoredRow[]> {
  const rows = await database
    .selectFrom('audit_event')
    .select(['id', 'sequence'])
    .where('sequence', '>', String(row))
    .orderBy('sequence')
    .execute();
  return rows.map(({ id, sequence }) => ({ id, row: Number(sequence) }));
}

function familyOf({ processId }: PrivateServer): readonly number[] {
  const parent = processId?.();
  if (parent === undefined) return [];
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === parent);
  return [parent, ...children.map(Number)];
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    // The process has just exited.
    return undefined;
  }
}
