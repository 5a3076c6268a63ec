import { randomUUID } from 'node:crypto';
import type { Storage } from '@clinical-launch/storage/storage';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CompiledQuery, type KyselyPlugin } from 'kysely';
import { readAuditKeys, sealKeyFrom } from '../src/config.ts';
import { createAuditSearch } from '../src/store/audit-search.ts';
import { createKnownParties } from '../src/store/known-parties.ts';
import { type AuditDatabase, openSchema } from '../src/store/tables.ts';
import { aLaunch } from './some-events.ts';
import { inventRows } from './stored/invented-rows.ts';
import { searchesOf } from './stored/invented-searches.ts';

let storage: Storage;
let database: AuditDatabase;
beforeAll(async () => {
  storage = await openTestStorage();
  database = await openSchema(storage);
  await inventRows(database, {
    partition: 'audit_event_2026_09',
    from: new Date('2026-09-01'),
    to: new Date('2026-10-01'),
    rows: 48_000,
    firstLaunch: 1,
    sealKey: sealKeyFrom(readAuditKeys({})),
  });
  const issuer = 'https://idp.example/idp/north/practice/v2.0';
  const clients = ['pms-1', 'pms-2', 'pms-3', 'pms-4'].map((clientId) =>
    aLaunch(randomUUID(), { data: { issuer, clientId } }),
  );
  await createKnownParties(database).record(clients);
});
afterAll(() => storage.close());

/**
 * Returns the query plans of the statements on the log that `work` executes, with the settings that it
 * makes.
 */
async function plansOf(work: (observed: AuditDatabase) => Promise<unknown>): Promise<readonly string[]> {
  const nodes: Parameters<KyselyPlugin['transformQuery']>[0][] = [];
  const observer: KyselyPlugin = {
    transformQuery(query) {
      nodes.push(query);
      return query.node;
    },
    transformResult: async ({ result }) => result,
  };
  await work(database.withPlugin(observer));
  return database.transaction().execute(async (transaction) => {
    const plans: string[] = [];
    for (const { node, queryId } of nodes) {
      const statement = transaction.getExecutor().compileQuery(node, queryId);
      if (statement.sql.includes('set_config')) await transaction.executeQuery(statement);
      if (!statement.sql.includes('audit_event')) continue;
      const { rows } = await transaction.executeQuery<{ 'QUERY PLAN': string }>(
        CompiledQuery.raw(`explain ${statement.sql}`, [...statement.parameters]),
      );
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    }
    return plans;
  });
}

describe('search', () => {
  it('reads the log by an index for every kind of criterion, and intersects no bitmaps', async () => {
    const searches = await searchesOf(database);
    for (const [name, criteria] of searches) {
      const plans = await plansOf((observed) => createAuditSearch(observed)(criteria, { limit: 50 }));
      expect([name, plans.filter((plan) => /Seq Scan on audit_event|BitmapAnd/.test(plan))]).toEqual([
        name,
        [],
      ]);
    }
    expect(searches.length).toBeGreaterThan(30);
  });

  it.each([
    ['user', /user_key_time_idx/],
    ['practice', /practice_time_idx/],
    ['patient', /patient_time_idx/],
    ['order reference', /order_references_idx/],
    ['order', /order_guid_time_idx/],
    ["caller's identifier", /originating_id_time_idx/],
    ['rare reason', /reason_time_idx/],
    ['GUID of a launch', /correlation_id_time_idx/],
    ['address that never occurs', /address_time_idx/],
    ['all criteria of a launch', /(patient|user_key|practice)_time_idx/],
  ])('by %s uses its own index', async (wanted, index) => {
    const found = (await searchesOf(database)).find(([name]) => name === wanted);
    const plans = await plansOf((observed) => createAuditSearch(observed)(found?.[1] ?? {}, { limit: 50 }));
    expect(plans[0]).toMatch(index);
  });
});
