import type { CloudEvent, RejectedEvent } from '@clinical-launch/contracts/events/cloud-event';
import { startRelay } from '@clinical-launch/events/relay';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Kysely, sql } from 'kysely';
import { appendToOutbox, type OutboxTables, sqlOutbox } from '../src/sql-outbox.ts';
import type { Storage } from '../src/storage.ts';
import { outboxMigration, someEvents } from './some-events.ts';

type Tables = OutboxTables & { change: { name: string } };

const schema = 'service';

const withReason = (event: CloudEvent, tokenId: string): CloudEvent =>
  JSON.parse(JSON.stringify({ ...event, data: { ...event.data, tokenId } }));

/** Tests the outbox on an implementation of `Storage`. `open` opens a separate database for the suite. */
export function describeSqlOutbox(name: string, open: () => Promise<Storage>): void {
  describe(`the SQL outbox (${name})`, () => {
    let storage: Storage;
    let database: Kysely<Tables>;
    beforeAll(async () => {
      storage = await open();
      database = await storage.open<Tables>(schema, {
        '001-outbox': outboxMigration(schema),
        '002-change': {
          up: async (db: Kysely<unknown>) => {
            await sql`create table ${sql.id(schema)}.change (name text not null unique)`.execute(db);
          },
        },
      });
    });
    afterAll(() => storage.close());
    beforeEach(async () => {
      await database.deleteFrom('outbox').execute();
      await database.deleteFrom('change').execute();
    });

    /** Commits a change with its events in one transaction. `then` runs before the commit. */
    const change = (events: readonly CloudEvent[], then: () => Promise<void> = async () => undefined) =>
      database.transaction().execute(async (transaction) => {
        await transaction.insertInto('change').values({ name: 'done' }).execute();
        await appendToOutbox(transaction, events);
        await then();
      });

    const append = (events: readonly CloudEvent[]) =>
      database.transaction().execute((transaction) => appendToOutbox(transaction, events));

    /** Inserts an event of a newer release, which `appendToOutbox` of this release would refuse. */
    async function insertForeign(event: object): Promise<string> {
      const { id } = await database
        .insertInto('outbox')
        .values({ event: sql<CloudEvent>`${JSON.stringify(event)}::jsonb` })
        .returning('id')
        .executeTakeFirstOrThrow();
      return id;
    }

    async function waiting(): Promise<CloudEvent[]> {
      const rows = await database.selectFrom('outbox').select('event').orderBy('id').execute();
      return rows.map(({ event }) => event);
    }

    async function drainAll(): Promise<CloudEvent[][]> {
      const batches: CloudEvent[][] = [];
      const outbox = sqlOutbox(database);
      while ((await outbox.drain(async (events) => void batches.push([...events]))) > 0);
      return batches;
    }

    describe('an event in the outbox', () => {
      it('is stored when its change is committed', async () => {
        const events = someEvents(2);
        await change(events);
        expect(await waiting()).toEqual(events);
      });

      it('is not stored if its change is rolled back', async () => {
        const rolledBack = change(someEvents(2), () =>
          Promise.reject(new Error('the change cannot be made')),
        );
        await expect(rolledBack).rejects.toThrow('the change cannot be made');
        expect(await waiting()).toEqual([]);
        expect(await database.selectFrom('change').selectAll().execute()).toEqual([]);
      });

      it('is not stored if the database refuses its change', async () => {
        const events = someEvents(1);
        await change(events);
        await expect(change(someEvents(1))).rejects.toMatchObject({ code: '23505' });
        expect(await waiting()).toEqual(events);
      });

      it('is refused together with its change if it is invalid', async () => {
        const [event] = someEvents(1);
        if (event === undefined) throw new Error('someEvents(1) returned no event');
        for (const wrong of [
          { ...event, source: 'nowhere' },
          withReason(event, 'a\0b'),
          withReason(event, '\ud800'),
        ]) {
          await expect(change([event, wrong])).rejects.toThrow(TypeError);
        }
        expect(await waiting()).toEqual([]);
        expect(await database.selectFrom('change').selectAll().execute()).toEqual([]);
      });

      it('is published with the unknown members of a newer release', async () => {
        const [event] = someEvents(1);
        const newer = { ...event, subject: 'newer', data: { ...event?.data, newer: 'member' } };
        await insertForeign(newer);
        const published: CloudEvent[] = [];
        await sqlOutbox(database).drain(async (batch) => void published.push(...batch));
        expect(published).toEqual([newer]);
      });

      it('is set aside if it is invalid, reported without its data, and does not block other events', async () => {
        const events = someEvents(3);
        await append(events);
        const place = await insertForeign({ type: 'Margaret Whitfield', data: { name: 'Whitfield' } });
        const later = someEvents(2);
        await append(later);
        const rejected: RejectedEvent[] = [];
        const outbox = sqlOutbox(database, { onRejected: (one) => void rejected.push(one) });
        const published: CloudEvent[] = [];
        const publish = async (batch: readonly CloudEvent[]) => void published.push(...batch);
        // While the bus is down, no event is lost and no rejection is reported twice.
        await expect(outbox.drain(() => Promise.reject(new Error('down')))).rejects.toThrow('down');
        while ((await outbox.drain(publish)) > 0);
        expect(published).toEqual([...events, ...later]);
        expect(rejected).toEqual([{ place, reason: 'The type of the event is not in the catalogue' }]);
        expect(await outbox.level()).toEqual({ depth: 0, oldestAgeSeconds: 0 });
        const kept = await database.selectFrom('outbox').select(['id', 'rejected_at']).execute();
        expect(kept).toEqual([{ id: place, rejected_at: expect.anything() }]);
      });

      it('is not required for a change', async () => {
        await change([]);
        expect(await waiting()).toEqual([]);
      });
    });

    describe('the level of the outbox', () => {
      it('is zero if the outbox is empty', async () => {
        expect(await sqlOutbox(database).level()).toEqual({ depth: 0, oldestAgeSeconds: 0 });
      });

      it('reports the number of waiting events and the age of the oldest', async () => {
        await append(someEvents(2));
        await database
          .updateTable('outbox')
          .set({ created_at: sql<Date>`clock_timestamp() - interval '1 day'` })
          .execute();
        await append(someEvents(1));
        const { depth, oldestAgeSeconds } = await sqlOutbox(database).level();
        expect(depth).toBe(3);
        expect(Math.floor(oldestAgeSeconds / 3600)).toBe(24);
      });
    });

    describe('draining the outbox', () => {
      it('publishes every event once, unchanged and in order', async () => {
        const events = someEvents(250);
        for (let from = 0; from < events.length; from += 90) await append(events.slice(from, from + 90));
        const batches = await drainAll();
        expect(batches.flat()).toEqual(events);
        expect(batches.map(({ length }) => length)).toEqual([100, 100, 50]);
        expect(await waiting()).toEqual([]);
      });

      it('keeps events in order if they cannot be published', async () => {
        const events = someEvents(3);
        await append(events);
        const outbox = sqlOutbox(database);
        await expect(outbox.drain(() => Promise.reject(new Error('the broker is down')))).rejects.toThrow(
          'the broker is down',
        );
        expect(await waiting()).toEqual(events);
        await append(someEvents(1));
        expect((await drainAll()).flat().slice(0, 3)).toEqual(events);
      });

      it('returns the number of published events', async () => {
        await append(someEvents(3));
        const outbox = sqlOutbox(database);
        expect(await outbox.drain(async () => undefined)).toBe(3);
        const unexpected = () => Promise.reject(new Error('the outbox must be empty'));
        expect(await outbox.drain(unexpected)).toBe(0);
      });

      it('publishes every event once, even with several concurrent relays', async () => {
        const events = someEvents(250);
        await append(events);
        const batches = (await Promise.all([drainAll(), drainAll(), drainAll()])).flat(2);
        expect(batches).toHaveLength(250);
        expect(new Set(batches.map(({ id }) => id))).toEqual(new Set(events.map(({ id }) => id)));
      });

      it('releases a batch for other relays if publishing times out', async () => {
        const events = someEvents(1);
        await append(events);
        const outbox = sqlOutbox(database, { publishTimeoutMs: 1 });
        const never = new Promise<void>(() => undefined);
        await expect(outbox.drain(() => never)).rejects.toThrow('Nothing was confirmed within 1 ms');
        expect((await drainAll()).flat()).toEqual(events);
      });

      it('is repeated by a relay, so that events are published after a failure', async () => {
        const published: CloudEvent[] = [];
        const failures: unknown[] = [];
        const events = someEvents(120);
        await append(events);
        const relay = startRelay({
          source: sqlOutbox(database),
          publish: async (batch) => {
            if (failures.length === 0) throw new Error('the broker is down');
            published.push(...batch);
          },
          onFailure: (error) => void failures.push(error),
          everyMs: 1,
        });
        await relay.stop();
        expect(published).toEqual(events);
        expect(failures).toEqual([new Error('the broker is down')]);
        expect(await waiting()).toEqual([]);
      });
    });
  });
}
