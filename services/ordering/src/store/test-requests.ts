import { createHash } from 'node:crypto';
import type { CloudEvent, CodedIdentifier } from '@clinical-launch/contracts';
import type { Clock } from '@clinical-launch/service';
import { appendToOutbox } from '@clinical-launch/storage';
import { type Selectable, sql, type Transaction } from 'kysely';
import type { Draft } from '../domain/draft.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { jsonb, type OrderingDatabase, type OrderingTables } from './database.ts';
import { lockDraft } from './drafts.ts';

export type Submission = { readonly request: TestRequest; readonly events: readonly CloudEvent[] };

/** Makes a request of what is chosen; undefined when it may not be submitted as it is. */
export type MakeSubmission = (
  draft: Draft,
  takeBatchNumbers: (count: number) => Promise<number[]>,
) => Promise<Submission | undefined>;

export type TestRequests = {
  /** The request that a launch submitted. */
  findByLaunch(launchId: string): Promise<TestRequest | undefined>;
  /**
   * Submits the draft of a launch: the request and its events are kept in one transaction. A launch submits once:
   * whoever comes second is given the request that is there.
   */
  submit(launchId: string, make: MakeSubmission): Promise<TestRequest | undefined>;
};

/** Keeps the requests that were submitted. */
export function createTestRequests(database: OrderingDatabase, clock: Clock): TestRequests {
  return {
    findByLaunch: (launchId) => findByLaunch(database, launchId),
    submit(launchId, make) {
      return database.transaction().execute(async (transaction) => {
        // Held to the end: a second submit of this launch waits here.
        const draft = await lockDraft(transaction, launchId, clock.now());
        const submitted = await findByLaunch(transaction, launchId);
        if (submitted !== undefined) return submitted;
        const submission = await make(draft, (count) => takeBatchNumbers(transaction, count));
        if (submission === undefined) return undefined;
        await insert(transaction, submission.request);
        await appendToOutbox(transaction, submission.events);
        return submission.request;
      });
    },
  };
}

async function findByLaunch(
  database: OrderingDatabase | Transaction<OrderingTables>,
  launchId: string,
): Promise<TestRequest | undefined> {
  const row = await database
    .selectFrom('test_requests')
    .selectAll()
    .where('launch_id', '=', launchId)
    .executeTakeFirst();
  return row === undefined ? undefined : toTestRequest(row);
}

async function takeBatchNumbers(transaction: Transaction<OrderingTables>, count: number): Promise<number[]> {
  const { rows } = await sql<{ number: string }>`
    select nextval('ordering.batch_numbers') as number from generate_series(1, ${count}::integer)
  `.execute(transaction);
  return rows.map(({ number }) => Number(number));
}

async function insert(transaction: Transaction<OrderingTables>, request: TestRequest): Promise<void> {
  const { client, parties, originatingId } = request;
  const { practice } = parties;
  await transaction
    .insertInto('test_requests')
    .values({
      guid: request.guid,
      launch_id: request.launchId,
      issuer: client.issuer,
      client_id: client.clientId,
      originating_id: originatingId,
      originating_key: keyOf(client.issuer, client.clientId, originatingId),
      practice_system: practice.identifier.system,
      practice_code: practice.identifier.value,
      practice_key: keyOf(practice.identifier.system, practice.identifier.value),
      patient_keys: parties.patient.identifiers.map((identifier) => patientKey(identifier, client)),
      status: request.status,
      version: request.version,
      parties: jsonb(parties),
      clinical_details: request.clinicalDetails,
      batches: jsonb([...request.batches]),
      created_at: request.createdAt,
      updated_at: request.updatedAt,
    })
    .execute();
}

function toTestRequest(row: Selectable<OrderingTables['test_requests']>): TestRequest {
  return {
    guid: row.guid,
    launchId: row.launch_id,
    client: { issuer: row.issuer, clientId: row.client_id },
    originatingId: row.originating_id,
    version: row.version,
    status: row.status,
    parties: row.parties,
    clinicalDetails: row.clinical_details,
    batches: row.batches,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** National identifiers are one person's everywhere, a hospital number only for the client that uses it. */
function patientKey({ system, value }: CodedIdentifier, client: TestRequest['client']): string {
  const scope = system === 'hospital-number' ? [client.issuer, client.clientId] : [];
  return keyOf(...scope, system, value);
}

/** Parts are told apart by their JSON, so that no two lists of parts make one key. */
const keyOf = (...parts: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');
