import { createHash, randomUUID } from 'node:crypto';
import type { Storage } from '@clinical-launch/storage';
import { openEmbeddedStorage } from '@clinical-launch/storage/embedded';
import { describeSchema } from '@clinical-launch/storage/schema';
import { openTestStorage } from '@clinical-launch/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { emptyDraft } from '../src/domain/draft.ts';
import type { TestRequest } from '../src/domain/test-request.ts';
import { readCatalogue } from '../src/index.ts';
import {
  type OrderingDatabase,
  type OrderingTables,
  openOrderingDatabase,
  orderingMigrations,
} from '../src/store/database.ts';
import { findDraft, lockDraft, storeDraft } from '../src/store/drafts.ts';
import { patientKeysOf, practiceKeyOf } from '../src/store/keys.ts';
import { submissionsOf } from '../src/store/submissions.ts';
import { findOrderOf, findRequest } from '../src/store/test-requests.ts';
import { indexOutdated } from '../src/work/keep-words-current.ts';
import { inventRequests } from './stored/invented-requests.ts';
import { releasedMigrations } from './stored/released-migrations.ts';
import { timeZone } from './stored/seed.ts';

const practice = {
  identifier: { system: 'local-org-code' as const, value: '0042' },
  name: 'Oak Lane Surgery',
};

function aRequest(): TestRequest {
  const invention = { practice, count: 1, catalogue: readCatalogue(), newest: new Date(), firstNumber: 1 };
  const [invented] = inventRequests(invention);
  if (invented === undefined) throw new Error('No request was invented');
  const { parties } = invented;
  const identifiers = [{ system: 'nhs-number' as const, value: '943 476 5919' }];
  const patient = { ...parties.patient, identifiers };
  return { ...invented, guid: randomUUID(), launchId: randomUUID(), parties: { ...parties, patient } };
}

const keyOf = (...parts: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** The statements of a process from before `003-submissions`, as it sent them. */
const earlier = {
  async beginDraft(database: OrderingDatabase, launchId: string, orderGuid: string) {
    await sql`insert into ordering.drafts (launch_id, order_guid, version, content, updated_at)
      values (${launchId}, ${orderGuid}, 0, '{"chosen":[],"search":"","clinicalDetails":""}', now())
      on conflict do nothing returning launch_id`.execute(database);
  },
  async choose(database: OrderingDatabase, launchId: string, chosen: readonly string[]) {
    const content = JSON.stringify({ chosen, search: '', clinicalDetails: 'Tired' });
    await sql`update ordering.drafts set version = 1, content = ${content}::jsonb, updated_at = now()
      where launch_id = ${launchId}`.execute(database);
  },
  async draftOf(database: OrderingDatabase, launchId: string) {
    const { rows } = await sql<{ order_guid: string; version: number; content: { chosen: string[] } }>`
      select * from ordering.drafts where launch_id = ${launchId}`.execute(database);
    return rows;
  },
  async submit(database: OrderingDatabase, { guid, launchId, client, parties, ...request }: TestRequest) {
    const { system, value } = parties.practice.identifier;
    const patientKeys = parties.patient.identifiers.map((one) => keyOf(one.system, one.value));
    await sql`insert into ordering.test_requests
      (guid, launch_id, issuer, client_id, originating_id, originating_key, practice_system, practice_code,
        practice_key, patient_keys, status, version, parties, clinical_details, batches, created_at, updated_at)
      values (${guid}, ${launchId}, ${client.issuer}, ${client.clientId}, ${request.originatingId},
        ${keyOf(client.issuer, client.clientId, request.originatingId)}, ${system}, ${value},
        ${keyOf(system, value)}, ${patientKeys}, ${request.status}, ${request.version},
        ${JSON.stringify(parties)}::jsonb, ${request.clinicalDetails}, ${JSON.stringify(request.batches)}::jsonb,
        ${request.createdAt}, ${request.updatedAt})`.execute(database);
  },
};

/** Opens a database as a deployment has it that applied the migrations in the form of their release. */
async function openAsReleased(storage: Storage): Promise<OrderingDatabase> {
  const all = Object.entries({ ...orderingMigrations, ...releasedMigrations });
  const applied = Object.fromEntries(all.filter(([name]) => name < '011'));
  await storage.open<OrderingTables>('ordering', applied);
  return openOrderingDatabase(storage);
}

let newSchema: Awaited<ReturnType<typeof describeSchema>>;
beforeAll(async () => {
  const fresh = await openEmbeddedStorage();
  newSchema = await describeSchema(await openOrderingDatabase(fresh), 'ordering');
  await fresh.close();
});

describe.each([
  ['embedded, new', openEmbeddedStorage, openOrderingDatabase],
  ['embedded, from an earlier release', openEmbeddedStorage, openAsReleased],
  ['PostgreSQL, from an earlier release', openTestStorage, openAsReleased],
] as const)('a process from before 003 during an update (%s)', (_name, openStorage, open) => {
  let storage: Storage;
  let database: OrderingDatabase;
  beforeAll(async () => {
    storage = await openStorage();
    database = await open(storage);
  });
  afterAll(() => storage.close());

  it('meets the schema that a new deployment has', async () => {
    expect(await describeSchema(database, 'ordering')).toEqual(newSchema);
  });

  it('begins and changes drafts that this release continues, and the reverse', async () => {
    const [launchId, orderGuid] = [randomUUID(), randomUUID()];
    const place = { launchId, target: launchId };
    await earlier.beginDraft(database, launchId, orderGuid);
    await earlier.choose(database, launchId, ['HFBC']);
    await earlier.beginDraft(database, launchId, randomUUID());
    const draft = await findDraft(database, place);
    expect(draft).toMatchObject({
      submissionId: orderGuid,
      version: 1,
      chosen: ['HFBC'],
      priority: 'routine',
    });
    const next = { ...emptyDraft(randomUUID()), version: 2, chosen: ['BUE'] };
    await database.transaction().execute(async (tx) => {
      await lockDraft(tx, place, { beginning: emptyDraft(randomUUID()), now: Date.now() });
      await storeDraft(tx, place, { draft: next, now: Date.now() });
    });
    expect(await earlier.draftOf(database, launchId)).toEqual([
      expect.objectContaining({ order_guid: next.submissionId, version: 2 }),
    ]);
    await earlier.choose(database, launchId, ['BUE', 'HFBC']);
    expect(await findDraft(database, place)).toMatchObject({
      submissionId: next.submissionId,
      chosen: ['BUE', 'HFBC'],
    });
  });

  it('submits requests that this release finds, with their submission, and indexes later', async () => {
    const request = aRequest();
    await earlier.submit(database, request);
    const { guid, launchId, client } = request;
    expect(await findOrderOf(database, launchId)).toMatchObject({ guid, priority: 'routine', answers: [] });
    expect(await submissionsOf(database, launchId)).toMatchObject([
      { requestGuid: guid, requestVersion: 1, action: 'OrderTest', author: request.parties.author },
    ]);
    expect(await indexOutdated(database, { timeZone, limit: 10 })).toBe(1);
    const bare = { system: 'nhs-number' as const, value: '9434765919' };
    const patient = { ...request.parties.patient, identifiers: [bare] };
    const sight = {
      practiceKey: practiceKeyOf(practice, client),
      patientKeys: patientKeysOf({ patient, practice }, client),
    };
    expect((await findRequest(database, guid, sight))?.parties.patient.identifiers).toEqual([bare]);
  });
});
