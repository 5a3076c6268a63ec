import { createSecretKey, randomBytes } from 'node:crypto';
import { openEmbeddedStorage } from '@clinical-launch/storage/embedded-storage';
import type { Storage } from '@clinical-launch/storage/storage';
import { startMeasuring } from '@clinical-launch/testing/measured';
import { createRecordedLogger } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { readAuditKeys, sealKeyFrom } from '../src/config.ts';
import type { AuditFault } from '../src/domain/audit-fault.ts';
import { columnsOf } from '../src/domain/audit-row.ts';
import { readCheckpoint, signCheckpoint } from '../src/domain/checkpoint.ts';
import { hashOfRow, sealOf } from '../src/domain/row-chain.ts';
import { createAuditStore } from '../src/store/audit-store.ts';
import { createChainReader } from '../src/store/chain-reader.ts';
import { createCheckpoints } from '../src/store/checkpoints.ts';
import { createProgress } from '../src/store/progress.ts';
import { type AuditDatabase, dropPartition, openSchema } from '../src/store/tables.ts';
import { dropOld } from '../src/work/maintain-partitions.ts';
import { verifyAudit } from '../src/work/verify-audit.ts';
import { startVerification } from '../src/work/verify-regularly.ts';
import { anEvent } from './some-events.ts';

const keys = readAuditKeys({});
const now = new Date('2026-03-02T12:00:00Z');

describe.each<[string, () => Promise<Storage>]>([
  ['PostgreSQL', openTestStorage],
  ['PGlite', openEmbeddedStorage],
])('verifyAudit in %s', (_name, open) => {
  let storage: Storage;
  let database: AuditDatabase;
  beforeAll(async () => {
    storage = await open();
    database = await openSchema(storage);
  });
  afterAll(() => storage.close());

  /** The number of months that tests have used. Each test writes to its own month. */
  let months = 0;
  async function aMonth({ rows = 20, checkpointAt = [10, 20] } = {}) {
    months += 1;
    const month = new Date(Date.UTC(2025, months - 1)).toISOString().slice(0, 7);
    const partition = `audit_event_${month.replace('-', '_')}`;
    const store = createAuditStore({ database, sealKey: sealKeyFrom(keys) });
    const checkpoints = createCheckpoints(database, keys);
    const chain = createChainReader(database);
    const events = Array.from({ length: rows }, (_, index) =>
      anEvent('launch.token.refused.v1', {
        time: `${month}-01T10:00:${String(index).padStart(2, '0')}.000Z`,
        data: { status: 410, reason: 'token_used', user: { username: `user ${index}` } },
      }),
    );
    const signed: string[] = [];
    for (let stored = 0; stored < rows; stored += 10) {
      await store.append(events.slice(stored, stored + 10));
      if (!checkpointAt.includes(stored + 10)) continue;
      const checkpoint = await checkpoints.sign(partition, await chain.endOf(partition), {
        now,
        kind: 'rows',
      });
      signed.push(checkpoint?.jws ?? '');
    }
    return { month, partition, events, signed, store };
  }

  const verify = async (more: Partial<Parameters<typeof verifyAudit>[0]> = {}) => {
    const checkpoints = createCheckpoints(database, keys);
    return verifyAudit({ chain: createChainReader(database), checkpoints, keys, ...more });
  };
  const faultsOf = async (partition: string, more: Partial<Parameters<typeof verifyAudit>[0]> = {}) =>
    (await verify(more)).faults.filter((fault) => fault.partition === partition);

  /** Runs statements with the triggers disabled, as a superuser can. */
  async function tamper(partition: string, ...statements: string[]) {
    const table = partition.startsWith('audit_event') ? partition : 'checkpoint';
    await sql.raw(`alter table audit_trail.${table} disable trigger all`).execute(database);
    for (const statement of statements) await sql.raw(statement).execute(database);
    await sql.raw(`alter table audit_trail.${table} enable trigger all`).execute(database);
  }

  it('reports no fault in unchanged rows', async () => {
    const { partition, events } = await aMonth();
    const { rows, faults } = await verify();
    expect([rows, faults]).toEqual([20, []]);
    const period = { from: new Date('2025-01-01'), to: new Date('2025-01-02') };
    expect((await verify({ period })).rows).toBe(20);
    // A period contains its first moment, and ends before its last.
    const timeOf = (row: number) => new Date(events[row]?.time ?? '');
    expect((await verify({ period: { from: timeOf(5), to: timeOf(9) } })).rows).toBe(4);
    expect(await faultsOf(partition, { period })).toEqual([]);
  });

  it.each([
    ['user_name', `'nobody'`],
    ['time', `time + interval '1 microsecond'`],
    ['address', `'192.0.2.1'`],
    ['order_references', `array['a', 'b']`],
    ['event', `replace(event, 'token_used', 'other')`],
    ['is_late', 'true'],
  ])('reports a row whose %s was changed', async (column, value) => {
    const { partition, events } = await aMonth();
    await tamper(partition, `update audit_trail.${partition} set ${column} = ${value} where sequence = 7`);
    const expected: AuditFault = {
      kind: 'changed',
      partition,
      sequence: 7,
      id: events[6]?.id ?? '',
      time: events[6]?.time ?? '',
    };
    expect(await faultsOf(partition)).toEqual([expected]);
    await tamper(partition, `truncate audit_trail.${partition}`);
  });

  it('reports a removed row, and consecutive removed rows as one fault', async () => {
    const { partition } = await aMonth();
    await tamper(partition, `delete from audit_trail.${partition} where sequence in (4, 12, 13)`);
    const removed = [
      { kind: 'removed', partition, firstSequence: 4, sequence: 4 },
      { kind: 'removed', partition, firstSequence: 12, sequence: 13 },
    ];
    expect(await faultsOf(partition)).toEqual(removed);
    const month = partition.slice(12).replace('_', '-');
    const period = { from: new Date(`${month}-01T10:00:15Z`), to: new Date(`${month}-02`) };
    expect(await faultsOf(partition, { period })).toEqual(removed);
    await tamper(partition, `truncate audit_trail.${partition}`);
  });

  it('reports an inserted row with a correct hash but a forged seal', async () => {
    const { partition, month } = await aMonth({ checkpointAt: [10] });
    const end = await createChainReader(database).endOf(partition);
    const time = `${month}-01T11:00:00.000Z`;
    const event = anEvent('launch.token.redeemed.v1', { time });
    const row = { ...columnsOf(event), sequence: 21, is_late: false };
    const hash = hashOfRow(end.hash, row);
    await sql`insert into audit_trail.audit_event (sequence, id, time, correlation_id, trace_id, source, type, outcome, is_late, event, hash, seal)
      values (21, ${event.id}, ${time}, ${row.correlation_id}, ${row.trace_id}, ${row.source}, ${row.type}, ${row.outcome}, false, ${row.event},
        ${hash}, ${sealOf(createSecretKey(randomBytes(32)), hash)})`.execute(database);
    expect(await faultsOf(partition)).toEqual([
      { kind: 'forged', partition, sequence: 21, id: event.id, time },
    ]);
    await tamper(partition, `truncate audit_trail.${partition}`);
  });

  it('reports rows that were rewritten with new hashes to the end of the chain, even if the verifier has no seal key', async () => {
    const { partition } = await aMonth({ checkpointAt: [20] });
    const chain = createChainReader(database);
    await tamper(partition, `update audit_trail.${partition} set reason = 'other' where sequence = 19`);
    for (const sequence of [19, 20]) {
      const before = await chain.endOf(partition, sequence);
      const { broken } = await chain.slice(partition, before, 1);
      expect(broken).toHaveLength(1);
      const { rowTextInSql } = await import('../src/store/chain-reader.ts');
      await tamper(
        partition,
        `update audit_trail.${partition} set hash =
          sha256('\\x${before.hash.toString('hex')}'::bytea || convert_to(${rowTextInSql}, 'UTF8')) where sequence = ${sequence}`,
      );
    }
    expect(await faultsOf(partition)).toMatchObject([
      { kind: 'forged', sequence: 19 },
      { kind: 'forged', sequence: 20 },
      { kind: 'rewritten', sequence: 20 },
    ]);
    const publicKeys = { verification: keys.verification, seals: [] };
    expect(await faultsOf(partition, { keys: publicKeys })).toMatchObject([
      { kind: 'rewritten', sequence: 20 },
    ]);
    await tamper(partition, `truncate audit_trail.${partition}`);
  });

  it('reports rows removed from the end if their checkpoint or its external copy still exists', async () => {
    const { partition, signed } = await aMonth();
    await tamper(partition, `delete from audit_trail.${partition} where sequence > 15`);
    const tail = { kind: 'removed', partition, firstSequence: 16, sequence: 20 };
    expect(await faultsOf(partition)).toEqual([expect.objectContaining(tail)]);
    await tamper(
      'checkpoint',
      `delete from audit_trail.checkpoint where partition = '${partition}' and sequence = 20`,
    );
    expect(await faultsOf(partition)).toEqual([]);
    const { faults } = await verify({ external: signed });
    expect(faults).toContainEqual(expect.objectContaining(tail));
    expect(faults).toContainEqual(expect.objectContaining({ kind: 'checkpoint-missing' }));
    await tamper(partition, `truncate audit_trail.${partition}`);
  });

  it('reports a checkpoint that differs from the external copy with the same number', async () => {
    const { partition, signed } = await aMonth();
    const read = await readCheckpoint(signed[0] ?? '', keys);
    if (read === undefined) throw new Error('A checkpoint was signed');
    const { jws: _jws, ...checkpoint } = read;
    const other = await signCheckpoint({ ...checkpoint, time: '2025-12-31T00:00:00.000Z' }, keys);
    const missing = { kind: 'checkpoint-missing', checkpoint: checkpoint.number };
    expect((await verify({ external: signed })).faults).not.toContainEqual(missing);
    expect((await verify({ external: [other] })).faults).toContainEqual(missing);
    // The next checkpoint contains the hash of the previous checkpoint.
    await tamper(
      'checkpoint',
      `update audit_trail.checkpoint set jws = '${other}' where number = ${checkpoint.number}`,
    );
    const next = { kind: 'checkpoint-forged', checkpoint: checkpoint.number + 1 };
    expect((await verify()).faults).toContainEqual(next);
    await tamper(
      'checkpoint',
      `update audit_trail.checkpoint set jws = '${read.jws}' where number = ${checkpoint.number}`,
    );
    expect((await verify()).faults).not.toContainEqual(next);
    await tamper(partition, `truncate audit_trail.${partition}`);
  });

  it('reports a dropped partition if no checkpoint records the end of its retention', async () => {
    const { partition } = await aMonth();
    await sql.raw(`drop table audit_trail.${partition}`).execute(database);
    expect(await faultsOf(partition)).toEqual([
      expect.objectContaining({ kind: 'dropped', partition, sequence: 20 }),
    ]);
  });

  it('accepts a month dropped after its retention, for which the store then refuses events', async () => {
    const store = createAuditStore({ database, sealKey: sealKeyFrom(keys) });
    const old = () => anEvent('launch.token.redeemed.v1', { time: '2004-05-06T07:08:09.000Z' });
    await store.append([old()]);
    const { logger, lines } = createRecordedLogger();
    const [chain, checkpoints] = [createChainReader(database), createCheckpoints(database, keys)];
    const dropAt = (time: Date) => dropOld({ chain, checkpoints, database, retentionYears: 8, logger }, time);
    // The last second of the month is not yet eight years ago.
    await dropAt(new Date('2012-05-31T23:59:59Z'));
    expect(await chain.partitions()).toContain('audit_event_2004_05');
    await dropAt(now);
    expect(await chain.partitions()).not.toContain('audit_event_2004_05');
    expect(await faultsOf('audit_event_2004_05')).toEqual([]);
    expect(lines.filter((line) => line.includes('audit checkpoint'))).toHaveLength(1);
    await expect(createAuditStore({ database, sealKey: sealKeyFrom(keys) }).append([old()])).rejects.toThrow(
      'out of retention',
    );
    // The database itself refuses to drop a partition of this year, in case the service's clock is wrong.
    await expect(dropPartition(database, 'audit_event_2026_03')).rejects.toThrow('not out of retention');
  });

  it('reports a checkpoint that was changed, replaced or removed', async () => {
    const { partition, signed } = await aMonth({ rows: 30, checkpointAt: [10, 20, 30] });
    const [first = '', second = '', third = ''] = signed;
    const of = (jws: string) => `where jws = '${jws}'`;
    const numbered = async () => {
      const rows = await database.selectFrom('checkpoint').select(['number', 'jws']).execute();
      return new Map(rows.map(({ number, jws }) => [jws, Number(number)]));
    };
    const numbers = await numbered();
    const faulty = async () =>
      (await verify()).faults.filter(({ checkpoint = 0 }) =>
        [...signed].some((jws) => numbers.get(jws) === checkpoint),
      );
    expect(await faulty()).toEqual([]);
    await tamper(
      'checkpoint',
      `update audit_trail.checkpoint set jws = '${first}' ${of(second)} and number = ${numbers.get(second)}`,
    );
    expect(await faulty()).toContainEqual({ kind: 'checkpoint-forged', checkpoint: numbers.get(second) });
    await tamper('checkpoint', `delete from audit_trail.checkpoint where number = ${numbers.get(second)}`);
    expect(await faulty()).toContainEqual({ kind: 'checkpoint-missing', checkpoint: numbers.get(second) });
    const forged = `${third.slice(0, -10)}AAAAAAAAAA`;
    await tamper('checkpoint', `update audit_trail.checkpoint set jws = '${forged}' ${of(third)}`);
    expect(await faulty()).toContainEqual({ kind: 'checkpoint-forged', checkpoint: numbers.get(third) });
    expect(partition).toContain('audit_event');
  });
});

describe('the regular verification', () => {
  it('verifies new rows every hour and all rows every day, logs each fault as an error, and counts them', async () => {
    const measured = startMeasuring();
    const storage = await openEmbeddedStorage();
    const database = await openSchema(storage);
    const clock = new TestClock();
    const { logger, lines } = createRecordedLogger();
    const [chain, checkpoints] = [createChainReader(database), createCheckpoints(database, keys)];
    const store = createAuditStore({ database, sealKey: sealKeyFrom(keys) });
    const time = new Date(clock.now()).toISOString();
    await store.append([
      anEvent('launch.token.redeemed.v1', { time }),
      anEvent('launch.token.redeemed.v1', { time }),
    ]);
    const run = async () => {
      const progress = createProgress(database);
      const verification = startVerification({
        chain,
        checkpoints,
        keys,
        progress,
        clock,
        logger,
      });
      const before = verified().length;
      await until(() => verified().length > before);
      await verification.stop();
    };
    const verified = () =>
      lines.filter((line) => line.includes('was verified')).map((line) => JSON.parse(line));
    await run();
    const partition = (await chain.partitions()).at(-1) ?? '';
    await checkpoints.sign(partition, await chain.endOf(partition), {
      now: new Date(clock.now()),
      kind: 'rows',
    });
    clock.advance({ seconds: 3 * 3600 });
    await store.append([anEvent('launch.token.redeemed.v1', { time })]);
    await sql.raw(`alter table audit_trail.${partition} disable trigger all`).execute(database);
    await sql
      .raw(`update audit_trail.${partition} set source = '/x' where sequence in (1, 3)`)
      .execute(database);
    await run();
    clock.advance({ seconds: 24 * 3600 });
    await run();
    expect(verified()).toMatchObject([
      { rows: 2, faults: 0 },
      { rows: 1, faults: 1 },
      { rows: 3, faults: 2 },
    ]);
    const errors = lines.map((line) => JSON.parse(line)).filter(({ fault }) => fault !== undefined);
    expect(errors.map(({ fault }) => fault.sequence)).toEqual([3, 1, 3]);
    expect(errors[0].msg).toContain(`Partition ${partition}, row 3`);
    expect(await measured.read('clinical_launch.audit.chain.faults')).toEqual({ '': 2 });
    expect(await measured.read('clinical_launch.audit.verified_time')).toEqual({ '': clock.now() / 1000 });
    measured.stop();
    await storage.close();
  });
});
