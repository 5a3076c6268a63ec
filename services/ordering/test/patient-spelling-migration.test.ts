import { randomUUID } from 'node:crypto';
import { openPostgresStorage } from '@clinical-launch/storage/postgres';
import { createTestDatabase } from '@clinical-launch/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { TestRequest } from '../src/domain/test-request.ts';
import { readCatalogue } from '../src/index.ts';
import { type OrderingDatabase, openOrderingDatabase } from '../src/store/database.ts';
import { patientKeysOf, practiceKeyOf } from '../src/store/keys.ts';
import { spellPatientsOnce } from '../src/store/migrations/009-patient-spelling.ts';
import { aLaunchContext } from './launches.ts';
import { inventRequests } from './stored/invented-requests.ts';
import { rowOf } from './stored/seed.ts';
import { practiceChoicesIn } from './stored-choices.ts';

type Identifier = TestRequest['parties']['patient']['identifiers'][number];

const client = { issuer: 'https://launch.example.org/idp/demo/v2.0', clientId: 'pms-demo' };
const { author: by } = aLaunchContext().request;
const practiceOf = (code: string) => ({
  identifier: { system: 'ods-organization-code' as const, value: code },
  name: 'Harbour Surgery',
});

/** Identifiers as they were stored before, and as they are stored now. */
const spellings: readonly (readonly [readonly Identifier[], readonly Identifier[]])[] = [
  [[{ system: 'nhs-number', value: '943 476 5919' }], [{ system: 'nhs-number', value: '9434765919' }]],
  [
    [
      { system: 'hospital-number', value: 'wh 42' },
      { system: 'nhs-number', value: '943-476\u20115870' },
    ],
    [
      { system: 'hospital-number', value: 'wh 42' },
      { system: 'nhs-number', value: '9434765870' },
    ],
  ],
  [
    [{ system: 'nhs-number', value: '943 476 5918' }],
    [{ system: 'nhs-number', value: '943 476 5918', isDoubtful: true }],
  ],
  [[{ system: 'gha-number', value: 'gha\u00a0123456' }], [{ system: 'gha-number', value: 'GHA123456' }]],
  [
    [{ system: 'chi-number', value: '3213010006' }],
    [{ system: 'chi-number', value: '3213010006', isDoubtful: true }],
  ],
];

let drop: () => Promise<void>;
let database: OrderingDatabase;
beforeEach(async () => {
  const created = await createTestDatabase();
  const storage = await openPostgresStorage({ url: created.url, applicationName: 'migration' });
  drop = async () => {
    await storage.close();
    await created.drop();
  };
  database = await openOrderingDatabase(storage);
});
afterEach(() => drop());

const rows = () =>
  database
    .selectFrom('test_requests')
    .select(['guid', 'parties', 'patient_keys', 'practice_key', 'words'])
    .orderBy('guid')
    .execute();

function aRequest(
  practice: TestRequest['parties']['practice'],
  identifiers: readonly Identifier[],
): TestRequest {
  const newest = new Date('2026-03-02T09:30:00Z');
  const [invented] = inventRequests({
    practice,
    count: 1,
    catalogue: readCatalogue(),
    newest,
    firstNumber: 1,
  });
  if (invented === undefined) throw new Error('No request was invented');
  const { parties } = invented;
  const patient = { ...parties.patient, identifiers };
  return {
    ...invented,
    guid: randomUUID(),
    launchId: randomUUID(),
    client,
    parties: { ...parties, patient },
  };
}

describe('requests that were stored before every spelling was one patient', () => {
  it('are kept in the one spelling, under the keys that the service now writes', async () => {
    const requests = spellings.map(([stored]) => aRequest(practiceOf('B82017'), stored));
    await database.insertInto('test_requests').values(requests.map(rowOf)).execute();
    await spellPatientsOnce.up(database);
    const migrated = new Map((await rows()).map((row) => [row.guid, row]));
    for (const [index, request] of requests.entries()) {
      const identifiers = spellings[index]?.[1] ?? [];
      const patient = { ...request.parties.patient, identifiers };
      const row = migrated.get(request.guid);
      expect(row?.parties).toEqual({ ...request.parties, patient });
      expect(row?.patient_keys).toEqual(patientKeysOf({ ...request.parties, patient }, client));
    }
  });

  it('of a practice whose ODS code was written small are with those of the practice, as are its choices', async () => {
    const [small, capitals] = [practiceOf('b82017'), practiceOf('B82017')];
    const identifiers: readonly Identifier[] = [{ system: 'hospital-number', value: '42' }];
    const requests = [small, capitals].map((practice) => aRequest(practice, identifiers));
    await database.insertInto('test_requests').values(requests.map(rowOf)).execute();
    const expected = await rows();
    const [mine] = requests;
    const oldKey = 'f'.repeat(64);
    await sql`update ordering.test_requests set practice_key = ${oldKey}, patient_keys = '{old}',
      words = array_to_tsvector(array(select 'ffffffff' || substr(lexeme, 9) from unnest(tsvector_to_array(words)) lexeme
        where lexeme like '%:%' and lexeme not like 'p:%') || array(select lexeme from unnest(tsvector_to_array(words)) lexeme
        where lexeme like 'p:%'))
      where guid = ${mine?.guid ?? ''}`.execute(database);
    const choices = practiceChoicesIn(database);
    const key = practiceKeyOf(capitals, client);
    for (const practiceKey of [oldKey, key]) {
      await choices.addFavourite({ practiceKey, code: 'HFBC', by });
      await choices.saveSet({ practiceKey, name: 'Ours', tests: ['BUE'], by });
    }
    await spellPatientsOnce.up(database);
    expect(await rows()).toEqual(expected);
    const { favourites, sets } = await choices.of(key);
    expect(favourites).toEqual(['HFBC']);
    expect(sets.map(({ name }) => name).toSorted()).toEqual(['Ours', 'Ours (b82017)']);
    expect(await choices.of(oldKey)).toEqual({ favourites: [], sets: [] });
  });

  it('change no more when they are as they should be', async () => {
    const request = aRequest(practiceOf('B82017'), [{ system: 'nhs-number', value: '9434765919' }]);
    await database
      .insertInto('test_requests')
      .values([rowOf(request)])
      .execute();
    const before = await rows();
    await spellPatientsOnce.up(database);
    expect(await rows()).toEqual(before);
  });
});
