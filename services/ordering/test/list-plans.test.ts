import type { Action } from '@clinical-launch/contracts/launch-context';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import type { Storage } from '@clinical-launch/storage/storage';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CompiledQuery, type KyselyPlugin, PostgresQueryCompiler, sql } from 'kysely';
import { readCatalogue } from '../src/catalogue-file.ts';
import { actionRules } from '../src/domain/action-rules.ts';
import { filterTerms } from '../src/domain/list-search.ts';
import { readRequestSearch } from '../src/domain/request-search.ts';
import type { TestRequest } from '../src/domain/test-request.ts';
import { type OrderingDatabase, openOrderingDatabase } from '../src/store/database.ts';
import { visibilityOf } from '../src/store/keys.ts';
import { type ListQuery, readRequestPage } from '../src/store/request-lists.ts';
import { findRequesters } from '../src/store/requesters.ts';
import { countMostRequested } from '../src/work/count-most-requested.ts';
import { aLaunchContext } from './launches.ts';
import { aPractice } from './listing.ts';
import { client, inventPatient, inventRequests } from './stored/invented-requests.ts';
import { requesters } from './stored/names.ts';
import { seedRequests, settle } from './stored/seed.ts';

const stored = 5_000;
/** The limit of rows that a page reads: its requests, the count up to 1000, and the rows of a search. */
const readAtMost = 2_000;

const similarSince = '2025-12-02T09:30:00Z';
const oneDay = { since: '2025-06-02T23:00:00Z', before: '2025-06-03T23:00:00Z' };
const hidesElsewhere = { hidesElsewhereSince: '2026-03-01T09:30:00Z' };
const everyFilter = filterTerms({
  test: 'HFBC',
  laboratory: 'NHSORGANISATIONS RCB00',
  requester: 'professional-code G8134567',
});
/**
 * Returns a practice with a fixed code. The names of invented patients depend on the code of their practice,
 * and the number of rows that a search reads depends on the names.
 */
const practiceWith = (value: string) => ({
  ...aPractice(),
  identifier: { system: 'ods-organization-code', value } as const,
});
const practice = practiceWith('P1');
/** A practice whose requests are all for the same patient. */
const single = practiceWith('P2');
const patient = inventPatient(practice, 7);
const [nhsNumber = ''] = patient.identifiers.map(({ value }) => value);
/** Returns a request, of which another place collects the samples if its GUID begins with a digit. */
const collectedElsewhere = ({ batches, ...request }: TestRequest): TestRequest => ({
  ...request,
  batches: batches.map((batch) => (/^\d/.test(request.guid) ? { ...batch, isElsewhere: true } : batch)),
});
let test: Awaited<ReturnType<typeof createTestDatabase>>;
let storage: Storage;
let database: OrderingDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
  storage = await openPostgresStorage({ url: test.url, applicationName: 'test', poolSize: 6 });
  database = await openOrderingDatabase(storage);
  const invention = { catalogue: readCatalogue(), newest: new Date('2026-03-02T09:30:00Z') };
  const requests = inventRequests({ ...invention, practice, count: stored, firstNumber: 1 });
  await seedRequests(database, [...requests].map(collectedElsewhere));
  const neighbour = { practice: practiceWith('P3'), count: 1_000, firstNumber: 50_000 };
  await seedRequests(database, inventRequests({ ...invention, ...neighbour }));
  const heavy = { practice: single, count: 3_000, patients: 1, firstNumber: 100_000 };
  await seedRequests(database, inventRequests({ ...invention, ...heavy }));
  await settle(database);
});
afterAll(async () => {
  await storage.close();
  await test.drop();
});

describe('a page of a list', () => {
  it.each<[string, Action, Partial<ListQuery>, string]>([
    ['the first page', 'LocationReportList', {}, ''],
    ['urgent requests', 'LocationReportList', { priority: 'urgent' }, ''],
    ['a queue', 'LocationSampleQueue', {}, ''],
    ['a queue that hides requests', 'LocationSampleQueue', hidesElsewhere, ''],
    ['a letter in a queue that hides requests', 'LocationSampleQueue', hidesElsewhere, 's'],
    ['a patient’s queue that hides requests', 'PatientRequestList', hidesElsewhere, ''],
    [
      'requests collected elsewhere',
      'LocationSampleQueue',
      { search: filterTerms({ status: 'elsewhere' }) },
      '',
    ],
    ['urgent requests of a queue', 'LocationSampleQueue', { priority: 'urgent' }, ''],
    ['a patient', 'PatientReportList', {}, ''],
    ['a patient’s requests of one practice', 'UpdateTest', {}, ''],
    ['the name of one patient', 'LocationReportList', {}, `${patient.name.family} ${patient.name.given[0]}`],
    ['a number', 'LocationReportList', {}, nhsNumber],
    ['a name that no patient has', 'LocationReportList', {}, 'xyzzy'],
    ['a letter', 'LocationReportList', {}, 'a'],
    ['a digit', 'LocationReportList', {}, '9'],
    ['a letter in a queue', 'LocationSampleQueue', {}, 's'],
    ['a test of a patient', 'PatientReportList', {}, 'blood'],
    ['a test', 'LocationReportList', {}, 'full blood count'],
    ['a name with a typing error', 'LocationReportList', {}, 'ramsbuttom'],
    ['a common name with a typing error', 'LocationReportList', {}, 'smitj'],
    ['a test with a typing error', 'LocationReportList', {}, 'ferritn'],
    ['a name and a test with typing errors, of a queue', 'LocationSampleQueue', {}, 'bakre ferritn'],
    ['a test of a patient with a typing error', 'PatientReportList', {}, 'bloood'],
    ['a day', 'LocationReportList', oneDay, ''],
    ['a day and a test', 'LocationReportList', oneDay, 'full blood count'],
    ['overdue requests', 'LocationSampleQueue', { before: '2026-03-01T09:30:00Z' }, ''],
    ['a day of a patient', 'PatientReportList', oneDay, ''],
    ['a day and a test of a patient', 'PatientReportList', oneDay, 'blood'],
    ['many filters', 'LocationReportList', { ...oneDay, priority: 'urgent', search: everyFilter }, ''],
  ])('reads fewer than 2000 rows, by indexes: %s', async (_, action, query, q) => {
    const plans = await plansOfPage(queryFor(action, { ...query, ...searchFor(q) }));
    expect(plans.flatMap(scansOf).filter(({ kind }) => kind === 'Seq Scan')).toEqual([]);
    expect(rowsOf(plans)).toBeLessThan(readAtMost);
  });

  it.each<[string, Action, Partial<ListQuery>, string]>([
    ['the first page', 'LocationReportList', {}, ''],
    ['a queue', 'LocationSampleQueue', {}, ''],
    ['a patient’s requests of one practice', 'UpdateTest', {}, ''],
    ['a number', 'LocationReportList', {}, nhsNumber],
    ['a letter in a queue', 'LocationSampleQueue', {}, 's'],
    ['a name with a typing error', 'LocationReportList', {}, 'ramsbuttom'],
    ['a day and a test', 'LocationReportList', oneDay, 'full blood count'],
  ])('reads fewer than 4000 rows, by indexes, of a practice with an earlier code: %s', async (...of) => {
    const [, action, query, q] = of;
    const context = aLaunchContext({ client, request: { action, practice, patient } });
    const visibility = visibilityOf({ ...context, formerly: [practiceWith('P3').identifier] });
    const plans = await plansOfPage(queryFor(action, { visibility, ...query, ...searchFor(q) }));
    expect(plans.flatMap(scansOf).filter(({ kind }) => kind === 'Seq Scan')).toEqual([]);
    expect(rowsOf(plans)).toBeLessThan(2 * readAtMost);
  });

  it('reads fewer than 2000 rows besides the matching requests when many old requests match', async () => {
    const plans = await plansOfPage(queryFor('LocationReportList', searchFor('penhaligon')));
    expect(rowsOf(plans)).toBeLessThan(readAtMost + stored / 5);
  });

  it('reads fewer than 4000 rows for a patient with many requests', async () => {
    const request = {
      action: 'PatientReportList',
      practice: single,
      patient: inventPatient(single, 0),
    } as const;
    const visibility = visibilityOf(aLaunchContext({ client, request }));
    const plans = await plansOfPage({
      visibility,
      statuses: actionRules.PatientReportList.lists,
      similarSince,
    });
    // The page reads the indexes once for each identifier of the patient, and counts requests up to a limit.
    expect(rowsOf(plans)).toBeLessThan(2 * readAtMost);
  });

  it.each([
    ['', []],
    [', and again for an earlier code', [practiceWith('P3').identifier]],
  ])('reads each requester of the practice once for the filter%s', async (_, formerly) => {
    const context = aLaunchContext({ client, request: { action: 'LocationReportList', practice } });
    const visibility = visibilityOf({ ...context, formerly });
    expect((await findRequesters(database, visibility)).map(({ name }) => name.family)).toEqual(
      requesters.map(({ family }) => family),
    );
    const plans = await plansOf((recorded) => findRequesters(recorded, visibility));
    expect(plans.flatMap(scansOf).filter(({ kind }) => kind === 'Seq Scan')).toEqual([]);
    // For each requester, the query reads an identifier and a name. Finally, the query reads the end of the
    // index.
    expect(rowsOf(plans)).toBeLessThanOrEqual(4 * requesters.length * (1 + formerly.length));
  });

  it('reads as few rows in the middle of the list as at its start', async () => {
    const { guid } = await database
      .selectFrom('test_requests')
      .select('guid')
      .where('practice_code', '=', practice.identifier.value)
      .orderBy('created_at')
      .offset(stored / 2)
      .limit(1)
      .executeTakeFirstOrThrow();
    for (const go of ['older', 'newer'] as const) {
      const plans = await plansOfPage(queryFor('LocationReportList', { from: { guid, go } }));
      expect(rowsOf(plans)).toBeLessThan(readAtMost);
    }
  });
});

describe('the count of the most requested tests', () => {
  it('reads only the newest requests, by indexes, even if the practice has many requests', async () => {
    const context = aLaunchContext({ client, request: { practice } });
    const now = Date.parse('2026-03-02T09:30:00Z');
    const plans = await plansOf((recorded) =>
      recorded.transaction().execute((tx) => countMostRequested(tx, context, now)),
    );
    expect(plans.flatMap(scansOf).filter(({ kind }) => kind === 'Seq Scan')).toEqual([]);
    const tests = plans.flatMap(scansOf).filter(({ kind }) => kind === 'Function Scan');
    expect(rowsOf(plans) - tests.reduce((total, { rows }) => total + rows, 0)).toBeLessThan(readAtMost);
    expect(tests).toHaveLength(2);
  });
});

const searchFor = (q: string) => {
  const search = readRequestSearch(q, { today: '2026-03-02' });
  return search === undefined ? {} : { search };
};

function queryFor(action: Action, query: Partial<ListQuery>): ListQuery {
  const context = aLaunchContext({ client, request: { action, practice, patient } });
  return { visibility: visibilityOf(context), statuses: actionRules[action].lists, similarSince, ...query };
}

type Plan = {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
};

/** Returns the executed plan of each query that reads requests for a page of a list. */
const plansOfPage = (query: ListQuery) =>
  plansOf((recorded) => recorded.transaction().execute((tx) => readRequestPage(tx, query)));

/** Returns the executed plan of each query with which `read` reads requests. */
async function plansOf(read: (recorded: OrderingDatabase) => Promise<unknown>): Promise<Plan[]> {
  const queries: CompiledQuery[] = [];
  const recorded = database.withPlugin(recorder(queries));
  await read(recorded);
  return database.transaction().execute(async (transaction) => {
    await sql`select set_config('enable_seqscan', 'off', true)`.execute(transaction);
    const plans: Plan[] = [];
    for (const { sql: text, parameters } of queries) {
      const explain = CompiledQuery.raw(`explain (analyze, format json) ${text}`, [...parameters]);
      const { rows } = await transaction.executeQuery<{ 'QUERY PLAN': [{ Plan: Plan }] }>(explain);
      plans.push(...rows.map((row) => row['QUERY PLAN'][0].Plan));
    }
    return plans;
  });
}

/** Records only queries that are executed, because Kysely compiles parts of queries, too. */
function recorder(queries: CompiledQuery[]): KyselyPlugin {
  const compiled = new Map<object, CompiledQuery>();
  return {
    transformQuery({ node, queryId }) {
      compiled.set(queryId, new PostgresQueryCompiler().compileQuery(node, queryId));
      return node;
    },
    async transformResult({ queryId, result }) {
      const query = compiled.get(queryId);
      if (/test_requests/.test(query?.sql ?? '') && query !== undefined) queries.push(query);
      return result;
    },
  };
}

/** Returns every scan of a plan with its number of rows, without the index scan below a bitmap heap scan. */
function scansOf(plan: Plan): { kind: string; rows: number }[] {
  const kind = plan['Node Type'];
  const read = plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0);
  const isScan = kind.endsWith('Scan') && !['Bitmap Index Scan', 'CTE Scan', 'Subquery Scan'].includes(kind);
  return [
    ...(isScan ? [{ kind, rows: read * plan['Actual Loops'] }] : []),
    ...(plan.Plans ?? []).flatMap(scansOf),
  ];
}

const rowsOf = (plans: readonly Plan[]) =>
  plans.flatMap(scansOf).reduce((total, { rows }) => total + rows, 0);
