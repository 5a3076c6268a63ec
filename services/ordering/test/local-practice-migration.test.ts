import { createHash, randomUUID } from 'node:crypto';
import type { Storage } from '@clinical-launch/storage';
import { openEmbeddedStorage } from '@clinical-launch/storage/embedded';
import { openPostgresStorage } from '@clinical-launch/storage/postgres';
import { createTestDatabase } from '@clinical-launch/testing';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { TestRequest } from '../src/domain/test-request.ts';
import { readCatalogue } from '../src/index.ts';
import { type OrderingDatabase, openOrderingDatabase } from '../src/store/database.ts';
import { practiceKeyOf } from '../src/store/keys.ts';
import { bindLocalPractices } from '../src/store/migrations/007-local-practices.ts';
import { aLaunchContext } from './launches.ts';
import { inventRequests } from './stored/invented-requests.ts';
import { rowOf } from './stored/seed.ts';
import { practiceChoicesIn } from './stored-choices.ts';

type Practice = TestRequest['parties']['practice'];
type Client = TestRequest['client'];

const local = (value: string): Practice => ({
  identifier: { system: 'local-org-code', value },
  name: 'Oak Lane Surgery',
});
const national: Practice = { identifier: { system: 'ods-organization-code', value: 'B82017' }, name: 'Quay' };
/** Characters that JSON escapes, characters that it does not escape, and characters of more than one byte. */
const codes = ['0042', '"\\/\b\f\n\r\t\u0001\u001f\u007f\u2028', 'Tŷ Gwyn – 医院 😀', ''];
const pms: Client = { issuer: 'https://launch.example.org/idp/demo/v2.0', clientId: 'pms-demo' };
const other: Client = { ...pms, clientId: 'pms-"other"' };
const { author: by } = aLaunchContext().request;

describe.each([
  ['embedded', async () => ({ storage: await openEmbeddedStorage(), drop: async () => undefined })],
  [
    'PostgreSQL',
    async () => {
      const database = await createTestDatabase();
      const storage = await openPostgresStorage({ url: database.url, applicationName: 'migration' });
      return { storage, drop: () => database.drop() };
    },
  ],
] as const)('requests that were stored before a local code was its client’s own (%s)', (_name, open) => {
  it('are found under the keys and words that the service now writes, each practice by its own client', async () => {
    await withStorage(open, async (database) => {
      const requests = [...codes.map(local), national].flatMap((practice) =>
        [pms, other].map((client) => aRequest(practice, client)),
      );
      await database.insertInto('test_requests').values(requests.map(rowOf)).execute();
      const expected = await keysAndWords(database);
      await shareLocalPractices(database, requests);
      expect(await keysAndWords(database)).not.toEqual(expected);
      await bindLocalPractices.up(database);
      expect(await keysAndWords(database)).toEqual(expected);
    });
  });

  it('leave favourites and order sets to each client that has a request of the practice', async () => {
    await withStorage(open, async (database) => {
      const [practice, unknown] = [local('0042'), local('without a request')];
      const requests = [pms, other].flatMap((client) => [
        aRequest(practice, client),
        aRequest(national, client),
      ]);
      await database.insertInto('test_requests').values(requests.map(rowOf)).execute();
      await shareLocalPractices(database, requests);
      const choices = practiceChoicesIn(database);
      for (const practiceKey of [sharedKey(practice), sharedKey(unknown), practiceKeyOf(national, pms)]) {
        await choices.addFavourite({ practiceKey, code: 'HFBC', by });
        await choices.saveSet({ practiceKey, name: 'Ours', tests: ['BUE'], by });
      }
      await bindLocalPractices.up(database);
      for (const practiceKey of [
        practiceKeyOf(practice, pms),
        practiceKeyOf(practice, other),
        practiceKeyOf(national, other),
        sharedKey(unknown),
      ]) {
        const { favourites, sets } = await choices.of(practiceKey);
        expect([favourites, sets.map(({ name, tests }) => [name, tests])]).toEqual([
          ['HFBC'],
          [['Ours', ['BUE']]],
        ]);
      }
      expect(await choices.of(sharedKey(practice))).toEqual({ favourites: [], sets: [] });
    });
  });
});

async function withStorage(
  open: () => Promise<{ storage: Storage; drop: () => Promise<void> }>,
  use: (database: OrderingDatabase) => Promise<void>,
): Promise<void> {
  const { storage, drop } = await open();
  try {
    await use(await openOrderingDatabase(storage));
  } finally {
    await storage.close();
    await drop();
  }
}

function aRequest(practice: Practice, client: Client): TestRequest {
  const newest = new Date('2026-03-02T09:30:00Z');
  const [invented] = inventRequests({
    practice,
    count: 1,
    catalogue: readCatalogue(),
    newest,
    firstNumber: 1,
  });
  if (invented === undefined) throw new Error('No request was invented');
  return { ...invented, guid: randomUUID(), launchId: randomUUID(), client };
}

const sharedKey = ({ identifier: { system, value } }: Practice) =>
  createHash('sha256')
    .update(JSON.stringify([system, value]))
    .digest('hex');

/** Restores the rows from when all clients shared one key for one local code. */
async function shareLocalPractices(database: OrderingDatabase, requests: readonly TestRequest[]) {
  for (const { guid, client, parties } of requests) {
    const [now, before] = [practiceKeyOf(parties.practice, client), sharedKey(parties.practice)];
    await sql`update ordering.test_requests set practice_key = ${before},
      words = array_to_tsvector(array(
        select replace(lexeme, ${`${now.slice(0, 8)}:`}, ${`${before.slice(0, 8)}:`})
        from unnest(tsvector_to_array(words)) lexeme))
      where guid = ${guid}`.execute(database);
  }
}

const keysAndWords = (database: OrderingDatabase) =>
  database.selectFrom('test_requests').select(['guid', 'practice_key', 'words']).orderBy('guid').execute();
