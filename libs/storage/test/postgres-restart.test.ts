import { connect, createServer, type Socket } from 'node:net';
import { startPostgres } from '@clinical-launch/testing/servers/postgres';
import type { PrivateServer } from '@clinical-launch/testing/servers/private-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Kysely, sql } from 'kysely';
import { openPostgresStorage } from '../src/postgres-storage.ts';
import { appendToOutbox, type OutboxTables, sqlOutbox } from '../src/sql-outbox.ts';
import type { Storage } from '../src/storage.ts';
import { StorageUnavailable } from '../src/storage-errors.ts';
import { outboxMigration, someEvents } from './some-events.ts';

type Tables = OutboxTables & { note: { text: string } };

const schema = 'restarts';

let server: PrivateServer;
let proxy: FreezingProxy;
beforeAll(async () => {
  server = await startPostgres();
  proxy = await startFreezingProxy(server.url);
});
afterAll(async () => {
  await proxy.stop();
  await server.stop();
});

let storage: Storage;
let database: Kysely<Tables>;
let lost: Error[];
beforeEach(async () => {
  lost = [];
  storage = await openPostgresStorage({
    url: proxy.url,
    applicationName: 'restart-test',
    connectTimeoutMs: 1000,
    statementTimeoutMs: 1000,
    onConnectionLost: (error) => void lost.push(error),
  });
  database = await storage.open<Tables>(schema, {
    '001-outbox': outboxMigration(schema),
    '002-note': {
      up: async (db: Kysely<unknown>) => {
        await sql`create table ${sql.id(schema)}.note (text text not null)`.execute(db);
      },
    },
  });
  await database.deleteFrom('note').execute();
});
afterEach(() => storage.close());

const write = (text: string, db: Kysely<Tables> = database) =>
  db.insertInto('note').values({ text }).execute();
const notes = async () =>
  (await database.selectFrom('note').select('text').execute()).map(({ text }) => text);

/** The ways in which a test stops and restarts the server. */
const restarts: [string, () => Promise<void>][] = [
  ['killed (-9) and restarted', async () => (await server.kill(), server.restart())],
  ['shut down and restarted', () => server.restart()],
];

describe.each(restarts)('the storage, when the server is %s', (_, restart) => {
  it('keeps committed data and reconnects', async () => {
    await Promise.all(['one', 'two', 'three'].map((text) => write(text)));
    await restart();
    expect((await notes()).toSorted()).toEqual(['one', 'three', 'two']);
    expect(lost.length).toBeGreaterThan(0);
    await write('four');
    expect(await notes()).toHaveLength(4);
  });

  it('rejects and rolls back a transaction in progress', async () => {
    await write('committed');
    const halfDone = database.transaction().execute(async (transaction) => {
      await write('uncommitted', transaction);
      await restart();
      await write('never written', transaction);
    });
    await expect(halfDone).rejects.toThrow(StorageUnavailable);
    expect(await notes()).toEqual(['committed']);
  });

  it('rejects and rolls back a transaction before its commit', async () => {
    const halfDone = database.transaction().execute(async (transaction) => {
      await write('uncommitted', transaction);
      await restart();
    });
    await expect(halfDone).rejects.toThrow(StorageUnavailable);
    expect(await notes()).toEqual([]);
  });

  it('publishes an outbox batch again if its publication was interrupted', async () => {
    const events = someEvents(2);
    await database.transaction().execute((transaction) => appendToOutbox(transaction, events));
    const outbox = sqlOutbox(database);
    await expect(outbox.drain(restart)).rejects.toThrow(StorageUnavailable);
    const published: unknown[] = [];
    expect(await outbox.drain(async (batch) => void published.push(...batch))).toBe(2);
    expect(published).toEqual(events);
    expect(await outbox.drain(() => Promise.reject(new Error('the outbox must be empty')))).toBe(0);
  });
});

describe('the storage, while the server is down', () => {
  it('rejects every query as unavailable, and recovers when the server is up again', async () => {
    await write('before');
    const inFlight = Promise.allSettled([sql`select pg_sleep(30)`.execute(database)]);
    await server.kill();
    expect(await inFlight).toMatchObject([{ status: 'rejected', reason: expect.any(StorageUnavailable) }]);
    await expect(write('lost')).rejects.toThrow(StorageUnavailable);
    await expect(database.transaction().execute((t) => write('lost', t))).rejects.toThrow(StorageUnavailable);
    await expect(storage.open('another', {})).rejects.toThrow(StorageUnavailable);
    expect(await storage.isReady()).toBe(false);
    await server.restart();
    expect(await storage.isReady()).toBe(true);
    expect(await notes()).toEqual(['before']);
  });

  it('loses no confirmed commit, and rejects every other commit as unavailable', async () => {
    const answered: string[] = [];
    const writer = async (name: string) => {
      for (let n = 0; ; n += 1) {
        await write(`${name}-${n}`);
        answered.push(`${name}-${n}`);
      }
    };
    const writers = Array.from({ length: 8 }, (_, index) => writer(`writer-${index}`));
    const outcomes = Promise.allSettled(writers);
    while (answered.length < 200) await new Promise(setImmediate);
    await server.kill();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(StorageUnavailable) });
    }
    await server.restart();
    const kept = new Set(await notes());
    expect(answered.filter((text) => !kept.has(text))).toEqual([]);
    // Each writer may have one write that was committed but not confirmed.
    expect(kept.size - answered.length).toBeLessThanOrEqual(writers.length);
  });
});

describe('the storage, when the server freezes', () => {
  it('stops a query after the timeout, and does not reuse its connection', async () => {
    await write('before');
    proxy.freeze();
    await expect(notes()).rejects.toThrow(StorageUnavailable);
    const [isReady] = await Promise.all([
      storage.isReady(),
      expect(notes()).rejects.toThrow(StorageUnavailable),
    ]);
    expect(isReady).toBe(false);
    proxy.thaw();
    expect(await notes()).toEqual(['before']);
  });
});

type FreezingProxy = {
  /** The server's URL with the proxy's address. */
  readonly url: string;
  /** Stops forwarding in both directions without closing connections. */
  freeze(): void;
  /** Forwards the waiting data, and resumes forwarding. */
  thaw(): void;
  stop(): Promise<void>;
};

/** Starts a TCP proxy that can behave like a host that hangs or a network that drops packets. */
async function startFreezingProxy(serverUrl: string): Promise<FreezingProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => to.write(bytes));
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (isFrozen) from.pause();
    }
  });
  await new Promise<void>((listening) => server.listen({ port: 0, host: '127.0.0.1' }, listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port');
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${address.port}`;
  return {
    url: url.href,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
