import { randomUUID } from 'node:crypto';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { createTestDatabase } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openOrderingDatabase } from '../src/store/database.ts';
import { findEarlierTests } from '../src/store/earlier-tests.ts';
import { soughtPatientOf } from '../src/store/keys.ts';
import {
  type Application,
  aLaunchContext,
  anOrder,
  aPatient,
  chooseAndReview,
  fieldValues,
  rowsOf,
  startOrdering,
} from './launches.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let application: Application;
beforeAll(async () => {
  database = await createTestDatabase();
  application = await startOrdering(() =>
    openPostgresStorage({ url: database.url, applicationName: 'repeats' }),
  );
});
afterAll(async () => {
  await application.stop();
  await database.drop();
});

const contextOf = (patient: ReturnType<typeof aPatient>) => aLaunchContext({ request: { patient } });

it('the service stores one of several simultaneous orders of a test, and refuses the others', async () => {
  const patient = aPatient();
  const launches = await Promise.all(
    Array.from({ length: 6 }, () => chooseAndReview(application, ['DHBA1C', 'BVITD'], contextOf(patient))),
  );
  const pages = await Promise.all(launches.map((launch) => launch.page('review')));
  const answers = await Promise.all(
    launches.map((launch, index) =>
      launch.post('review', [
        ['version', fieldValues(pages[index] ?? '', 'version')[0] ?? ''],
        ['action', 'submit'],
      ]),
    ),
  );
  const refused = answers.filter(({ headers }) => headers.get('location')?.endsWith('review?check'));
  expect(refused).toHaveLength(5);
  const stored = await Promise.all(launches.map((launch) => rowsOf(application, launch)));
  expect(stored.flat()).toHaveLength(1);
});

it('one query finds the latest request of each test, even if the patient has 5000 requests', async () => {
  const context = contextOf(aPatient());
  const { guid } = await anOrder(application, ['DHBA1C', 'HFBC', 'BVITD'], context);
  const tables = await openOrderingDatabase(application.storage);
  // Inserts 500 rows at a time, because the service has a statement timeout.
  for (let last = 500; last <= 5000; last += 500)
    await sql`
    insert into ordering.test_requests
    select (jsonb_populate_record(request, jsonb_build_object(
      'guid', gen_random_uuid(),
      'launch_id', gen_random_uuid(),
      'created_at', request.created_at - make_interval(hours => n)))).*
    from ordering.test_requests request, generate_series(${last - 499}::int, ${last}::int) n
    where request.guid = ${guid}::uuid`.execute(tables);
  const row = await tables
    .selectFrom('test_requests')
    .select('created_at')
    .where('guid', '=', guid)
    .executeTakeFirstOrThrow();
  const patient = soughtPatientOf(context.request, context.client);
  const search = { patient, since: '2016-01-01T00:00:00Z' };
  const found = await findEarlierTests(tables, { ...search, codes: ['DHBA1C', 'BVITD', 'ETFT'] });
  const latest = row.created_at.toISOString();
  expect(found.map(({ code, requestedAt }) => [code, requestedAt])).toEqual([
    ['BVITD', latest],
    ['DHBA1C', latest],
  ]);
  const others = await findEarlierTests(tables, { ...search, codes: ['DHBA1C'], except: guid });
  expect(others.map(({ requestedAt }) => requestedAt)).toEqual([
    new Date(row.created_at.getTime() - 3_600_000).toISOString(),
  ]);
  const stranger = { ...patient, keys: [randomUUID()] };
  expect(await findEarlierTests(tables, { ...search, patient: stranger, codes: ['DHBA1C'] })).toEqual([]);
});
