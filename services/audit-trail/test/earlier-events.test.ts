import { randomUUID } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts';
import type { Storage } from '@clinical-launch/storage';
import { openEmbeddedStorage } from '@clinical-launch/storage/embedded';
import { createRecordedLogger, openTestStorage, TestClock } from '@clinical-launch/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  type AuditDatabase,
  createAuditStore,
  migrations,
  openSchema,
  readAuditKeys,
  sealKeyFrom,
} from '../src/index.ts';
import { createChainReader } from '../src/store/chain-reader.ts';
import { createCheckpoints } from '../src/store/checkpoints.ts';
import { createEarlierEvents } from '../src/store/earlier-events.ts';
import { createKnownParties } from '../src/store/known-parties.ts';
import { createLaunchingClients } from '../src/store/launching-clients.ts';
import type { AuditTables } from '../src/store/tables.ts';
import { startEventCopy } from '../src/work/copy-events.ts';
import { storeEvents } from '../src/work/store-events.ts';
import { verifyAudit } from '../src/work/verify-audit.ts';
import { anEvent } from './some-events.ts';

const keys = readAuditKeys({});

/** An event as the release before wrote it: it does not say whom it is about. */
const redeemed = (correlationId = randomUUID()) => anEvent('launch.token.redeemed.v1', { correlationId });
const some = (count: number) => Array.from({ length: count }, () => redeemed());

/** The statements of the release before 020, as it sent them. */
const earlier = {
  async keep(database: AuditDatabase, events: readonly CloudEvent[]) {
    await sql`insert into audit_trail.event (id, correlation_id, type, event)
      select (event ->> 'id')::uuid, (event ->> 'correlationid')::uuid, event ->> 'type', event
      from jsonb_array_elements(${JSON.stringify(events)}::jsonb) with ordinality as arrived (event, place)
      order by place on conflict (id) do nothing`.execute(database);
  },
  async find(database: AuditDatabase, correlationId: string) {
    const { rows } = await sql<{ event: CloudEvent }>`select sequence, event from audit_trail.event
      where correlation_id = ${correlationId} and sequence > 0 order by sequence limit 500`.execute(database);
    return rows.map(({ event }) => event);
  },
};

describe.each<[string, () => Promise<Storage>]>([
  ['PostgreSQL', openTestStorage],
  ['embedded', openEmbeddedStorage],
])('%s: events that the release before stored', (_name, open) => {
  let storage: Storage;
  beforeAll(async () => {
    storage = await open();
  });
  // Each test begins without the service's schema.
  afterEach(async () => {
    await sql`drop schema audit_trail cascade`.execute(await storage.open('looking_in', {}));
  });
  afterAll(() => storage.close());

  const openBefore = () => {
    const { '001-events': first, '010-originating-ids': second } = migrations;
    if (first === undefined || second === undefined) throw new Error('The first migrations have other names');
    return storage.open<AuditTables>('audit_trail', { '001-events': first, '010-originating-ids': second });
  };
  const startCopy = (database: AuditDatabase) => {
    const log = createRecordedLogger();
    const store = storeEvents({
      store: createAuditStore({ database, sealKey: sealKeyFrom(keys) }),
      clients: createLaunchingClients(database),
      parties: createKnownParties(database),
    });
    const copy = startEventCopy({
      store,
      earlier: createEarlierEvents(database),
      clock: new TestClock(),
      logger: log.logger,
    });
    return { ...copy, store };
  };
  /** Copies until a run has ended, as each minute. */
  const copyOnce = (database: AuditDatabase) => startCopy(database).stop();
  const copied = async (database: AuditDatabase) =>
    (await database.selectFrom('audit_event').select('id').orderBy('id').execute()).map(({ id }) => id);
  const idsOf = (events: readonly CloudEvent[]) => events.map(({ id }) => id).toSorted();

  it('before, during and after the migration arrive in the log, each once, in a chain that is whole', async () => {
    const before = some(600);
    const old = await openBefore();
    await earlier.keep(old, before);
    const database = await openSchema(storage);
    const [during, after] = [some(10), some(10)];
    await earlier.keep(old, during);
    await copyOnce(database);
    expect(await copied(database)).toEqual(idsOf([...before, ...during]));
    await earlier.keep(old, [...after, ...during]);
    await Promise.all([copyOnce(database), copyOnce(database)]);
    await copyOnce(database);
    expect(await copied(database)).toEqual(idsOf([...before, ...during, ...after]));
    const checkpoints = createCheckpoints(database, keys);
    const { rows, faults } = await verifyAudit({ chain: createChainReader(database), checkpoints, keys });
    expect([rows, faults]).toEqual([620, []]);
  });

  it('are one row with those that this release receives too', async () => {
    const old = await openBefore();
    const database = await openSchema(storage);
    const [both, redelivered] = [redeemed(), redeemed()];
    await earlier.keep(old, [both]);
    const copy = startCopy(database);
    await copy.store([both, redelivered]);
    await earlier.keep(old, [redelivered]);
    await copy.stop();
    await copyOnce(database);
    expect(await copied(database)).toEqual(idsOf([both, redelivered]));
  });

  it('arrive although a row with a lower number is committed later', async () => {
    const old = await openBefore();
    const database = await openSchema(storage);
    const [late, early] = [redeemed(), redeemed()];
    await sql`select nextval(pg_get_serial_sequence('audit_trail.event', 'sequence'))`.execute(old);
    await earlier.keep(old, [early]);
    await copyOnce(database);
    await sql`insert into audit_trail.event (sequence, id, correlation_id, type, event) overriding system value
      values (1, ${late.id}, ${late.correlationid}, ${late.type}, ${JSON.stringify(late)}::jsonb)`.execute(
      old,
    );
    await copyOnce(database);
    expect(await copied(database)).toEqual(idsOf([late, early]));
  });

  it('are found by their GUID at once, also in a log that had none at the start', async () => {
    const old = await openBefore();
    const database = await openSchema(storage);
    const copy = startCopy(database);
    await copy.stop();
    const event = redeemed();
    await earlier.keep(old, [event, redeemed()]);
    await copy.copyNow(event.correlationid);
    expect(await copied(database)).toEqual([event.id]);
  });

  it('leave the clients that launched, by which a caller’s identifier is found', async () => {
    const old = await openBefore();
    const data = { issuer: 'https://issuer.example', clientId: 'pms', action: 'OrderTest', ttlSeconds: 10 };
    await earlier.keep(old, [anEvent('launch.url.issued.v1', { data })]);
    const database = await openSchema(storage);
    await copyOnce(database);
    const clients = await database.selectFrom('launching_client').selectAll().execute();
    expect(clients).toEqual([{ issuer: data.issuer, client_id: data.clientId }]);
  });

  it('stay where the release before finds them, after the update and after a rollback', async () => {
    const old = await openBefore();
    const guid = randomUUID();
    const events = [redeemed(guid), redeemed(guid)];
    await earlier.keep(old, events);
    await copyOnce(await openSchema(storage));
    expect(await earlier.find(await openBefore(), guid)).toEqual(events);
  });
});
