import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Storage } from '@clinical-launch/storage';
import { openEmbeddedStorage } from '@clinical-launch/storage/embedded';
import { openPostgresStorage } from '@clinical-launch/storage/postgres';
import { createRecordedLogger, createTestDatabase, openTestStorage, until } from '@clinical-launch/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { actionRules } from '../src/domain/action-rules.ts';
import { readRequestSearch } from '../src/domain/request-search.ts';
import type { TestRequest } from '../src/domain/test-request.ts';
import { readCatalogue } from '../src/index.ts';
import { type OrderingDatabase, openOrderingDatabase } from '../src/store/database.ts';
import { sightOf } from '../src/store/keys.ts';
import { readRequestPage } from '../src/store/request-lists.ts';
import { requestWords, wordsVersion } from '../src/store/request-words.ts';
import { indexOutdated, keepWordsCurrent } from '../src/work/keep-words-current.ts';
import { aLaunchContext } from './launches.ts';
import { aPractice } from './listing.ts';
import { inventRequests } from './stored/invented-requests.ts';
import { rowOf, timeZone } from './stored/seed.ts';

const practice = aPractice();

/** Stores requests of one practice as an older release left them: with other words, without a version. */
async function storeOutdated(database: OrderingDatabase, count: number): Promise<TestRequest[]> {
  const invention = { practice, count, catalogue: readCatalogue(), newest: new Date(), firstNumber: 1 };
  const requests = [...inventRequests(invention)].map((request) => ({
    ...request,
    guid: randomUUID(),
    launchId: randomUUID(),
  }));
  const rows = requests.map((request) => {
    const { words_version: _, ...row } = rowOf(request);
    return { ...row, words: sql<string>`array_to_tsvector(array['p:outdated'])` };
  });
  await database.insertInto('test_requests').values(rows).execute();
  return requests;
}

const rowsOf = (database: OrderingDatabase) =>
  database
    .selectFrom('test_requests')
    .select(['guid', 'words', 'words_version', 'updated_at'])
    .orderBy('guid')
    .execute();

const outdatedOf = async (database: OrderingDatabase) =>
  (await rowsOf(database)).filter(({ words_version: version }) => version < wordsVersion).length;

describe.each([
  ['embedded', async () => ({ storage: await openEmbeddedStorage(), drop: async () => undefined })],
  [
    'PostgreSQL',
    async () => {
      const database = await createTestDatabase();
      const storage = await openPostgresStorage({ url: database.url, applicationName: 'words', poolSize: 6 });
      return { storage, drop: () => database.drop() };
    },
  ],
] as const)('requests that were indexed by an older version of the words (%s)', (_name, open) => {
  let opened: { storage: Storage; drop(): Promise<void> };
  let database: OrderingDatabase;
  beforeAll(async () => {
    opened = await open();
    database = await openOrderingDatabase(opened.storage);
  });
  afterEach(() => database.deleteFrom('test_requests').execute());
  afterAll(async () => {
    await opened.storage.close();
    await opened.drop();
  });

  it('are found by the new words when they were indexed again, and are not changed otherwise', async () => {
    const [request] = await storeOutdated(database, 1);
    if (request === undefined) throw new Error('No request was invented');
    const found = async () => {
      const context = aLaunchContext({ request: { action: 'LocationReportList', practice } });
      const search = readRequestSearch(request.parties.patient.name.family) ?? [];
      const query = { sight: sightOf(context), statuses: actionRules.LocationReportList.lists, search };
      const page = await database.transaction().execute((tx) => readRequestPage(tx, query));
      return page.requests.map(({ guid }) => guid);
    };
    const [before] = await rowsOf(database);
    expect(await found()).toEqual([]);
    expect(await indexOutdated(database, { timeZone, limit: 10 })).toBe(1);
    expect(await found()).toEqual([request.guid]);
    const [after] = await rowsOf(database);
    expect(after).toMatchObject({ updated_at: before?.updated_at, words_version: wordsVersion });
    expect(await indexOutdated(database, { timeZone, limit: 10 })).toBe(0);
  });

  it('are indexed as new ones are, by two replicas at once, a batch at a time', async () => {
    const requests = await storeOutdated(database, 25);
    const counts = await Promise.all(
      Array.from({ length: 8 }, async () => [
        await indexOutdated(database, { timeZone, limit: 4 }),
        await indexOutdated(database, { timeZone, limit: 4 }),
      ]),
    );
    expect(Math.max(...counts.flat())).toBe(4);
    // Requests that another replica locked during the last batch are left to it.
    while ((await indexOutdated(database, { timeZone, limit: 4 })) > 0);
    const indexed = await rowsOf(database);
    await database.deleteFrom('test_requests').execute();
    await database.insertInto('test_requests').values(requests.map(rowOf)).execute();
    expect(await rowsOf(database)).toEqual(indexed);
  });

  it('are all indexed in the background, which says so once and looks again for what an older process writes', async () => {
    await storeOutdated(database, 7);
    const { logger, lines } = createRecordedLogger();
    const options = { database, logger, timeZone, batchSize: 3, pauseMs: 1, lookAgainMs: 20 };
    const replicas = [keepWordsCurrent(options), keepWordsCurrent(options)];
    await until(async () => (await outdatedOf(database)) === 0 && lines.length > 0);
    await storeOutdated(database, 1);
    await until(async () => (await outdatedOf(database)) === 0);
    await Promise.all(replicas.map((replica) => replica.stop()));
    const counts = lines.map((line) => (JSON.parse(line) as { requests: number }).requests);
    expect(counts.length).toBeLessThanOrEqual(3);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(8);
    await storeOutdated(database, 1);
    await delay(50);
    expect(await outdatedOf(database)).toBe(1);
  });

  it('wait while the database fails, which is logged once, and are indexed when it works again', async () => {
    await storeOutdated(database, 2);
    await sql`alter table ordering.test_requests rename to hidden_requests`.execute(database);
    const { logger, lines } = createRecordedLogger();
    const replica = keepWordsCurrent({
      database,
      logger,
      timeZone,
      pauseMs: 1,
      lookAgainMs: 20,
      retryMs: 5,
    });
    await until(() => lines.length > 0);
    await delay(50);
    expect(lines).toHaveLength(1);
    await sql`alter table ordering.hidden_requests rename to test_requests`.execute(database);
    await until(async () => (await outdatedOf(database)) === 0);
    await replica.stop();
  });
});

describe('a request that another transaction holds', () => {
  it('is left out, and neither of the two waits', async () => {
    const created = await createTestDatabase();
    const storage = await openPostgresStorage({ url: created.url, applicationName: 'words', poolSize: 3 });
    try {
      const database = await openOrderingDatabase(storage);
      const [held] = await storeOutdated(database, 3);
      await database.transaction().execute(async (tx) => {
        await tx
          .selectFrom('test_requests')
          .select('guid')
          .where('guid', '=', held?.guid ?? '')
          .forUpdate()
          .execute();
        expect(await indexOutdated(database, { timeZone, limit: 10 })).toBe(2);
        expect(await indexOutdated(database, { timeZone, limit: 10 })).toBe(0);
      });
      expect(await indexOutdated(database, { timeZone, limit: 10 })).toBe(1);
    } finally {
      await storage.close();
      await created.drop();
    }
  });
});

describe('the words of a request', () => {
  it('are those of their version: another result needs another version, so that stored requests are indexed again', async () => {
    const storage = await openTestStorage();
    try {
      const database = await openOrderingDatabase(storage);
      const catalogue = readCatalogue();
      const [request] = inventRequests({
        practice: {
          identifier: { system: 'ods-organization-code', value: 'B82017' },
          name: 'Harbour Surgery',
        },
        count: 1,
        // Two tests by their codes, so that other tests of the catalogue change nothing.
        catalogue: {
          ...catalogue,
          orderables: new Map([...catalogue.orderables].filter(([code]) => ['BTROP', 'UTES'].includes(code))),
        },
        newest: new Date('2026-03-02T09:30:00Z'),
        firstNumber: 1,
      });
      if (request === undefined) throw new Error('No request was invented');
      const { rows } = await sql<{
        words: string;
      }>`select ${requestWords(request, timeZone).words} as words`.execute(database);
      expect([wordsVersion, rows[0]?.words.match(/(?<=')[^' ]+(?=')/g)]).toEqual([
        2,
        '2c072258:0000000 2c072258:000001 2c072258:000002 2c072258:9320139655 2c072258:=19620217 2c072258:=d20260302 2c072258:=l4e48534f5247414e49534154494f4e53205243423030 2c072258:=l4e48534f5247414e49534154494f4e53205243423232 2c072258:=r70726f66657373696f6e616c2d636f6465204738313030303031 2c072258:=t4254524f50 2c072258:=t55544553 2c072258:btrop 2c072258:dr 2c072258:edith 2c072258:g8100001 2c072258:hall 2c072258:matthew 2c072258:mrs 2c072258:ncp 2c072258:ncp000002 2c072258:olivia 2c072258:oliviamatthew 2c072258:penhaligon 2c072258:svi 2c072258:svi000001 2c072258:testes 2c072258:troponin 2c072258:ultrasound 2c072258:ultrasoundtestes 2c072258:utes 2c072258:wh 2c072258:wh0000000 p:000001 p:000002 p:=d20260302 p:=l4e48534f5247414e49534154494f4e53205243423030 p:=l4e48534f5247414e49534154494f4e53205243423232 p:=t4254524f50 p:=t55544553 p:btrop p:ncp p:ncp000002 p:svi p:svi000001 p:testes p:troponin p:ultrasound p:ultrasoundtestes p:utes'.split(
          ' ',
        ),
      ]);
    } finally {
      await storage.close();
    }
  });
});
