import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { until } from '@clinical-launch/testing/until';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Kysely, sql } from 'kysely';
import { openPostgresStorage, type PostgresStorageOptions } from '../src/postgres-storage.ts';
import { appendToOutbox, type OutboxTables, sqlOutbox } from '../src/sql-outbox.ts';
import type { Storage } from '../src/storage.ts';
import { StorageUnavailable } from '../src/storage-errors.ts';
import { outboxMigration, someEvents } from './some-events.ts';
import { describeSqlOutbox } from './sql-outbox-contract.ts';
import { describeStorage } from './storage-contract.ts';

let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

const open = (options: Partial<PostgresStorageOptions> = {}) =>
  openPostgresStorage({ url: testDatabase.url, applicationName: 'storage-test', ...options });

describeStorage('PostgreSQL', open);
describeSqlOutbox('PostgreSQL', open);

it('the storage disables JIT compilation, which takes longer than the queries themselves', async () => {
  const storage = await open();
  const database = await storage.open<Record<never, never>>('jit', {});
  const { rows } = await sql<{ jit: string }>`show jit`.execute(database);
  expect(rows).toEqual([{ jit: 'off' }]);
  await storage.close();
});

describe('migrations in eight processes that start at the same time', () => {
  it('run once, and every process finds the resulting schema', async () => {
    const replicas = await startReplicas(8, testDatabase.url);
    const outcomes = await replicas.migrate();
    expect(outcomes.flatMap(({ ran }) => ran).toSorted()).toEqual(['001-table', '002-row', '003-row']);
    expect(outcomes.map(({ rows }) => rows)).toEqual(Array.from({ length: 8 }, () => 2));
  });
});

describe('relays of several replicas on one outbox', () => {
  let storage: Storage;
  let database: Kysely<OutboxTables>;
  beforeAll(async () => {
    storage = await open();
    database = await storage.open<OutboxTables>('relays', { '001-outbox': outboxMigration('relays') });
  });
  afterAll(() => storage.close());

  const append = (events: readonly CloudEvent[]) =>
    database.transaction().execute((transaction) => appendToOutbox(transaction, events));

  /**
   * Starts a relay, and resolves when it has claimed a batch. The relay publishes until `confirm` is called.
   */
  async function startPublishing() {
    const taken = Promise.withResolvers<readonly CloudEvent[]>();
    const confirmed = Promise.withResolvers<void>();
    const drained = sqlOutbox(database, { batchSize: 2 }).drain((events) => {
      taken.resolve(events);
      return confirmed.promise;
    });
    return { events: await taken.promise, confirm: confirmed.resolve, drained };
  }

  it('do not wait for each other, and do not claim the same events', async () => {
    const events = someEvents(3);
    await append(events);
    const first = await startPublishing();
    const second = await startPublishing();
    expect([first.events, second.events]).toEqual([events.slice(0, 2), events.slice(2)]);
    expect(
      await sqlOutbox(database).drain(() => Promise.reject(new Error('all events must be claimed'))),
    ).toBe(0);
    expect(await sqlOutbox(database).level()).toMatchObject({ depth: 3 });
    first.confirm();
    second.confirm();
    expect(await Promise.all([first.drained, second.drained])).toEqual([2, 1]);
    expect(await sqlOutbox(database).level()).toMatchObject({ depth: 0 });
  });

  it('immediately take over the batch of a dead relay', async () => {
    const events = someEvents(2);
    await append(events);
    const dying = await startPublishing();
    await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction'`.execute(database);
    const heir = await startPublishing();
    expect(heir.events).toEqual(events);
    heir.confirm();
    dying.confirm();
    await expect(dying.drained).rejects.toThrow(StorageUnavailable);
    expect(await heir.drained).toBe(2);
    expect(await sqlOutbox(database).level()).toMatchObject({ depth: 0 });
  });

  it('publish no event twice while new events are appended', async () => {
    const published: string[] = [];
    const expected = Array.from({ length: 20 }, () => someEvents(25));
    const isFull = { yes: false };
    const relay = async () => {
      const outbox = sqlOutbox(database, { batchSize: 7 });
      for (let isDone = false; !isDone; ) {
        isDone = isFull.yes;
        while ((await outbox.drain(async (batch) => void published.push(...batch.map(({ id }) => id)))) > 0);
      }
    };
    const relays = [relay(), relay(), relay(), relay()];
    for (const events of expected) await append(events);
    isFull.yes = true;
    await Promise.all(relays);
    expect(published.toSorted()).toEqual(
      expected
        .flat()
        .map(({ id }) => id)
        .toSorted(),
    );
  });
});

describe('a query of the PostgreSQL storage', () => {
  let storage: Storage | undefined;
  afterEach(async () => storage?.close());

  async function openTable(options: Partial<PostgresStorageOptions> = {}) {
    storage = await open(options);
    const database = await storage.open<{ account: { id: number; balance: number } }>('queries', {
      '001-account': {
        up: async (db: Kysely<unknown>) => {
          await sql`create table queries.account (id integer primary key, balance integer not null)`.execute(
            db,
          );
          await sql`insert into queries.account values (1, 0)`.execute(db);
        },
      },
    });
    return database;
  }

  it('is cancelled after the statement timeout, is answered as unavailable, and its connection is reused', async () => {
    const database = await openTable({ statementTimeoutMs: 1000, poolSize: 1 });
    const pid = () => sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database);
    const before = await pid();
    await expect(sql`select pg_sleep(30)`.execute(database)).rejects.toMatchObject({
      name: 'StorageUnavailable',
      cause: { code: '57014' },
    });
    expect((await pid()).rows).toEqual(before.rows);
  });

  it('is cancelled if it waits for a lock beyond the lock timeout, and is answered as unavailable', async () => {
    const database = await openTable({ lockTimeoutMs: 1000 });
    const update = (db: typeof database) => db.updateTable('account').set({ balance: 1 }).execute();
    await database.transaction().execute(async (transaction) => {
      await update(transaction);
      await expect(update(database)).rejects.toMatchObject({
        name: 'StorageUnavailable',
        cause: { code: '55P03' },
      });
    });
  });

  it('fails with code 40001 if it conflicts with another serializable transaction', async () => {
    const database = await openTable();
    const raise = (meanwhile: () => Promise<void>) =>
      database
        .transaction()
        .setIsolationLevel('serializable')
        .execute(async (transaction) => {
          const { balance } = await transaction.selectFrom('account').selectAll().executeTakeFirstOrThrow();
          await meanwhile();
          await transaction
            .updateTable('account')
            .set({ balance: balance + 1 })
            .execute();
        });
    await expect(raise(() => raise(async () => undefined))).rejects.toMatchObject({ code: '40001' });
  });

  it('fails if its transaction was idle beyond the timeout', async () => {
    const database = await openTable({ idleInTransactionTimeoutMs: 1000 });
    const idle = database.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
      await sessionEnded(database, rows[0]?.pid ?? 0);
      await transaction.updateTable('account').set({ balance: 7 }).execute();
    });
    await expect(idle).rejects.toThrow(StorageUnavailable);
    expect(await database.selectFrom('account').where('balance', '=', 7).selectAll().execute()).toEqual([]);
  });

  it('counts as waiting only if no connection is idle', async () => {
    const database = await openTable({ poolSize: 1 });
    const query = () => sql`select 1`.execute(database);
    /** Returns the most requests that waited for a connection while these queries were sent. */
    const mostWaiting = async (...running: readonly Promise<unknown>[]) => {
      let most = 0;
      // The pool gives a query its idle connection only after all of these steps.
      for (let step = 0; step < 100; step += 1) {
        most = Math.max(most, storage?.load?.pool().pending ?? 0);
        await Promise.resolve();
      }
      await Promise.all(running);
      return most;
    };
    await query();
    expect(await mostWaiting(query())).toBe(0);
    expect(await mostWaiting(query(), query())).toBe(1);
  });

  it('fails as unavailable if no connection is free in time', async () => {
    const database = await openTable({ poolSize: 1, connectTimeoutMs: 1000 });
    await database.transaction().execute(async (transaction) => {
      await sql`select 1`.execute(transaction);
      await expect(sql`select 1`.execute(database)).rejects.toThrow(StorageUnavailable);
    });
    expect((await sql`select 1 as one`.execute(database)).rows).toEqual([{ one: 1 }]);
  });
});

describe('a missing database', () => {
  it('is reported with the error code 3D000 of PostgreSQL, not as unavailable', async () => {
    const url = new URL(testDatabase.url);
    url.pathname = '/absent';
    const storage = await open({ url: url.href });
    await expect(storage.open('absent', {})).rejects.toMatchObject({ cause: { code: '3D000' } });
    expect(await storage.isReady()).toBe(false);
    await storage.close();
  });
});

/** Waits until the server has terminated a session. */
async function sessionEnded(database: Kysely<{ account: { id: number; balance: number } }>, pid: number) {
  const isThere = sql`select 1 from pg_stat_activity where pid = ${pid}`;
  await until(async () => (await isThere.execute(database)).rows.length === 0);
}

type Outcome = { readonly ran: string[]; readonly rows: number };

/**
 * Starts processes and waits until they have loaded their modules. `migrate` makes all of them open the same
 * schema at once.
 */
async function startReplicas(count: number, url: string) {
  const script = fileURLToPath(new URL('replica.ts', import.meta.url));
  const processes = Array.from({ length: count }, () => fork(script, [url]));
  await Promise.all(processes.map(nextMessage));
  return {
    async migrate(): Promise<Outcome[]> {
      const outcomes = processes.map(nextMessage);
      for (const process of processes) process.send('go');
      return (await Promise.all(outcomes)) as Outcome[];
    },
  };
}

/** Waits for a message of a process. @throws Error if the process exits first */
async function nextMessage(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(([code]: number[]) => {
    throw new Error(`A replica exited with code ${code}`);
  });
  const [message] = (await Promise.race([once(child, 'message'), ended])) as unknown[];
  return message;
}
