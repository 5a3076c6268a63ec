import { hash, randomUUID } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { openEmbeddedStorage } from '@clinical-launch/storage/embedded-storage';
import type { Storage } from '@clinical-launch/storage/storage';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { readAuditKeys, sealKeyFrom } from '../src/config.ts';
import { createAuditSearch } from '../src/store/audit-search.ts';
import { createAuditStore } from '../src/store/audit-store.ts';
import { createKnownParties } from '../src/store/known-parties.ts';
import type { AuditCriteria } from '../src/store/search-conditions.ts';
import { type AuditDatabase, openSchema } from '../src/store/tables.ts';
import { aLaunch, anEvent, bairstow } from './some-events.ts';

const sealKey = sealKeyFrom(readAuditKeys({}));

describe.each<[string, () => Promise<Storage>]>([
  ['PostgreSQL', openTestStorage],
  ['PGlite', openEmbeddedStorage],
])('the audit log in %s', (_name, open) => {
  let storage: Storage;
  let database: AuditDatabase;
  beforeAll(async () => {
    storage = await open();
    database = await openSchema(storage);
  });
  afterAll(() => storage.close());

  const append = (...events: CloudEvent[]) => createAuditStore({ database, sealKey }).append(events);
  const find = async (criteria: AuditCriteria, limit = 100) => {
    const { entries } = await createAuditSearch(database)(criteria, { limit });
    return entries;
  };
  const idsOf = async (criteria: AuditCriteria) => (await find(criteria)).map(({ id }) => id);
  const rows = () =>
    database
      .selectFrom('audit_event')
      .select(['sequence', 'id', 'time'])
      .orderBy('time')
      .orderBy('sequence')
      .execute();

  describe('an event', () => {
    it('is stored once, even if it is delivered again or twice in one batch', async () => {
      const [one, two] = [anEvent('launch.token.redeemed.v1'), anEvent('launch.token.redeemed.v1')];
      await append(one, one);
      await append(two, one);
      await append(one, two);
      const stored = (await rows()).map(({ id }) => id);
      expect(stored.filter((id) => id === one.id || id === two.id)).toEqual([one.id, two.id]);
    });

    it('is stored in the partition of its month, with the next sequence number', async () => {
      const time = '2025-12-31T23:59:59.999Z';
      const events = [
        anEvent('launch.token.redeemed.v1', { time }),
        anEvent('launch.token.redeemed.v1', { time: '2026-01-01T00:00:00.000Z' }),
      ];
      await append(...events);
      const { rows: stored } = await sql<{ place: string; sequence: string }>`
        select tableoid::regclass::text as place, sequence from audit_trail.audit_event
        where id = any(${events.map(({ id }) => id)}::uuid[]) order by time`.execute(database);
      expect(stored).toEqual([
        { place: 'audit_trail.audit_event_2025_12', sequence: '1' },
        { place: 'audit_trail.audit_event_2026_01', sequence: '1' },
      ]);
    });

    it('keeps text that needs escaping unchanged', async () => {
      const event = anEvent('launch.url.refused.v1', {
        data: { reason: 'a "b" \\ é 😀 \u0001', status: 400 },
      });
      await append(event);
      expect((await find({ id: event.id }))[0]?.event).toEqual(event);
    });

    it('is found by the longest names that callers may send', async () => {
      const long = '😀'.repeat(1024);
      const data = { ...bairstow, user: { username: long, name: long }, practice: { code: long } };
      const event = anEvent('launch.url.issued.v1', { data });
      await append(event);
      expect(await idsOf({ user: long, practice: long })).toEqual([event.id]);
    });

    it('of a refusal has the outcome "refused", and of a server error or a final delivery failure "failed"', async () => {
      const [refused, failed, undelivered] = [
        anEvent('launch.url.refused.v1', { data: { status: 403, reason: 'scope' } }),
        anEvent('launch.url.refused.v1', { data: { status: 503, reason: 'unavailable' } }),
        anEvent('order.document.delivery.failed.v1', { data: { reason: 'timeout', isFinal: true } }),
      ];
      await append(refused, failed, undelivered);
      const outcomes = await Promise.all([refused, failed, undelivered].map(({ id }) => find({ id })));
      expect(outcomes.map(([entry]) => entry?.outcome)).toEqual(['refused', 'failed', 'failed']);
    });
  });

  describe('concurrent writers', () => {
    it('number their rows without a gap', async () => {
      const time = (index: number) => `2026-05-01T00:00:00.${String(index).padStart(3, '0')}Z`;
      const batches = Array.from({ length: 8 }, (_, batch) =>
        Array.from({ length: 20 }, (_each, index) =>
          anEvent('launch.token.redeemed.v1', { time: time(batch * 20 + index) }),
        ),
      );
      // The last two writers store the same events.
      await Promise.all([...batches, ...batches.slice(-1)].map((batch) => append(...batch)));
      const { entries } = await createAuditSearch(database)(
        { from: new Date('2026-05-01'), to: new Date('2026-05-02') },
        { limit: 1000 },
      );
      const numbers = entries.map(({ sequence }) => Number(sequence)).toSorted((one, other) => one - other);
      expect(numbers).toEqual(Array.from({ length: 160 }, (_, index) => index + 1));
    });
  });

  describe('the events of a launch', () => {
    const inherited = {
      client: 'pms',
      user: 'DBairstow',
      userDisplay: 'Dr Bairstow',
      practice: 'A81001',
      practiceName: 'Harbour Surgery',
      patient: bairstow.patient,
      action: 'OrderTest',
    };

    it('inherit the details of the launch, in the same batch and in later batches', async () => {
      const guid = randomUUID();
      const [before, redeemed, delivered] = [
        anEvent('launch.token.redeemed.v1', { correlationId: guid }),
        anEvent('launch.token.redeemed.v1', { correlationId: guid }),
        anEvent('order.document.delivered.v1', {
          correlationId: guid,
          data: { clientId: 'other', issuer: 'i' },
        }),
      ];
      await append(before, aLaunch(guid));
      await append(redeemed, delivered);
      expect((await find({ id: before.id }))[0]).toMatchObject(inherited);
      expect((await find({ id: redeemed.id }))[0]).toMatchObject(inherited);
      expect((await find({ id: delivered.id }))[0]).toMatchObject({
        ...inherited,
        client: 'other',
        issuer: 'i',
      });
    });

    it('are found by the user and practice of the launch, even if its first event is stored after them', async () => {
      const guid = randomUUID();
      const data = { user: { username: 'late.user' }, practice: { code: 'LATE' } };
      const [early, ordered] = [
        anEvent('launch.token.redeemed.v1', { correlationId: guid }),
        anEvent('order.viewed.v1', { correlationId: guid, data: { action: 'OrderTest' } }),
      ];
      await append(early, ordered);
      const launch = aLaunch(guid, { data, time: '2026-03-02T09:00:00.000Z' });
      await append(launch);
      expect(await idsOf({ user: 'late.user' })).toEqual([ordered.id, early.id, launch.id]);
      expect(await idsOf({ practice: 'LATE', types: ['order.viewed.v1'] })).toEqual([ordered.id]);
      expect(await idsOf({ practice: 'LATE', action: 'UpdateTest' })).toEqual([]);
      expect((await find({ user: 'late.user' }))[1]).toMatchObject({ user: 'late.user', client: 'pms' });
    });

    it('include the refusal of a token that names the launch', async () => {
      const guid = randomUUID();
      const launch = aLaunch(guid);
      const refused = anEvent('launch.token.refused.v1', {
        data: { launchId: guid, status: 410, reason: 'token_used' },
      });
      await append(launch);
      await append(refused);
      expect(await idsOf({ correlationId: guid })).toEqual([refused.id, launch.id]);
      expect((await find({ id: refused.id }))[0]).toMatchObject(inherited);
    });
  });

  describe('search', () => {
    const guid = randomUUID();
    const orderGuid = randomUUID();
    const claim = hash(
      'sha256',
      JSON.stringify(['https://issuer.example', 'pms-8', 'their id']),
      'base64url',
    );
    const data = {
      clientId: 'pms-8',
      user: { username: 'Åsa.Jones' },
      practice: { code: 'B82008' },
      patient: 'q'.repeat(43),
      address: '192.0.2.8',
      action: 'PatientReport',
      claim: { name: claim, ttlSeconds: 9 },
    };
    const launch = aLaunch(guid, { data, time: '2026-04-01T10:00:00.000Z' });
    const order = anEvent('order.submitted.v1', {
      correlationId: guid,
      time: '2026-04-01T10:01:00.000Z',
      data: {
        orderGuid,
        orderReferences: ['LAB-1', 'LAB-2'],
        clientId: 'pms-8',
        issuer: 'https://issuer.example',
      },
    });
    const refusal = anEvent('launch.url.refused.v1', {
      time: '2026-04-02T10:00:00.000Z',
      data: { ...data, claim: undefined, status: 409, reason: 'identifier_claimed' },
    });
    const other = aLaunch(randomUUID(), { time: '2026-04-01T10:00:00.000Z' });
    beforeAll(async () => {
      await createKnownParties(database).record([launch]);
      await append(other, launch, order, refusal);
    });

    it.each<[string, AuditCriteria, CloudEvent[]]>([
      ['GUID', { correlationId: guid }, [order, launch]],
      ['client', { client: 'pms-8' }, [refusal, order, launch]],
      ['user, in any case', { user: 'åSA.jones' }, [refusal, order, launch]],
      ['practice', { practice: 'B82008' }, [refusal, order, launch]],
      ['patient', { patient: 'q'.repeat(43) }, [refusal, order, launch]],
      ['order reference', { orderReference: 'LAB-2' }, [order]],
      ['order', { orderGuid }, [order]],
      ["caller's identifier", { identifier: 'their id' }, [launch]],
      ["caller's identifier and client", { identifier: 'their id', client: 'pms-8' }, [launch]],
      ["another client's identifier", { identifier: 'their id', client: 'pms' }, []],
      ['action', { action: 'PatientReport', client: 'pms-8' }, [refusal, order, launch]],
      ['outcome', { outcomes: ['refused'], client: 'pms-8' }, [refusal]],
      [
        'several outcomes',
        { outcomes: ['refused', 'success'], practice: 'B82008' },
        [refusal, order, launch],
      ],
      ['reason', { reason: 'identifier_claimed' }, [refusal]],
      ['address', { address: '192.0.2.8', user: 'åsa.jones' }, [refusal, launch]],
      ['type', { types: ['order.submitted.v1'], user: 'åsa.jones' }, [order]],
      [
        'several types',
        { types: ['order.submitted.v1', 'launch.url.issued.v1'], patient: 'q'.repeat(43) },
        [order, launch],
      ],
      [
        'time',
        { practice: 'B82008', from: new Date('2026-04-01T10:01:00Z'), to: new Date('2026-04-02') },
        [order],
      ],
      [
        'practice, user and time',
        { practice: 'B82008', user: 'Åsa.Jones', from: new Date('2026-04-02') },
        [refusal],
      ],
      [
        'all criteria at once',
        {
          correlationId: guid,
          client: 'pms-8',
          user: 'Åsa.Jones',
          practice: 'B82008',
          patient: 'q'.repeat(43),
          action: 'PatientReport',
          outcomes: ['success'],
          orderReference: 'LAB-1',
        },
        [order],
      ],
      ['an unknown user', { user: 'nobody' }, []],
    ])('by %s returns exactly the matching entries, newest first', async (_criterion, criteria, expected) => {
      expect(await idsOf(criteria)).toEqual(expected.map(({ id }) => id));
    });

    it('returns every row once across pages, including rows of the same millisecond', async () => {
      const time = '2026-04-05T10:00:00.000Z';
      const events = Array.from({ length: 25 }, () =>
        anEvent('launch.token.redeemed.v1', { time, data: { clientId: 'paged' } }),
      );
      await append(...events);
      const search = createAuditSearch(database);
      const found: string[] = [];
      const sizes: number[] = [];
      let page = await search({ client: 'paged' }, { limit: 10 });
      for (;;) {
        found.push(...page.entries.map(({ id }) => id));
        sizes.push(page.entries.length);
        if (page.next === undefined) break;
        page = await search({ client: 'paged' }, { limit: 10, after: page.next });
      }
      expect(sizes).toEqual([10, 10, 5]);
      expect(found).toEqual(events.map(({ id }) => id).toReversed());
    });
  });

  describe('rows', () => {
    it.each(['audit_event', 'audit_event_2026_03', 'checkpoint'])(
      'of %s cannot be updated, deleted or truncated',
      async (table) => {
        await append(anEvent('launch.token.redeemed.v1'));
        for (const change of [
          `update audit_trail.${table} set sequence = 1`,
          `delete from audit_trail.${table}`,
          `truncate audit_trail.${table}`,
        ]) {
          await expect(sql.raw(change).execute(database)).rejects.toThrow('never changed or removed');
        }
      },
    );
  });
});
