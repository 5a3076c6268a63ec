import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { type Selectable, type SqlBool, sql } from 'kysely';
import type { TestRequest } from '../domain/test-request.ts';
import { jsonb, type OrderingDatabase, type OrderingTables, type OrderingTransaction } from './database.ts';
import {
  bornOn,
  isSamePerson,
  isVisible,
  originatingKeyOf,
  patientKeysOf,
  practiceKeyOf,
  practiceKeysOf,
  type Visibility,
  visibilityOf,
  visibilityUnder,
} from './keys.ts';
import { requestWords } from './request-words.ts';

/** Finds a request that a launch can see. */
export async function findRequest(
  database: OrderingDatabase,
  guid: string,
  visibility: Visibility,
): Promise<TestRequest | undefined> {
  const row = await selectRequests(database, visibility).where('guid', '=', guid).executeTakeFirst();
  return row === undefined ? undefined : toTestRequest(row);
}

/** Finds the order that a launch submitted. */
export async function findOrderOf(
  database: OrderingDatabase,
  launchId: string,
): Promise<TestRequest | undefined> {
  const row = await selectRequests(database, { launchId }).executeTakeFirst();
  return row === undefined ? undefined : toTestRequest(row);
}

/**
 * Finds the request with the launch's originating id, if the launch can see it. If the practice system reused
 * the id, finds the newest request.
 */
export async function findNamed(
  database: OrderingDatabase,
  context: LaunchContext,
): Promise<TestRequest | undefined> {
  const row = await selectRequests(database, visibilityOf(context))
    .where('originating_key', '=', originatingKeyOf(context.client, context.request.originatingId))
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : toTestRequest(row);
}

/** Finds the newest request that a launch can see. */
export async function findNewest(
  database: OrderingDatabase,
  visibility: Visibility,
): Promise<TestRequest | undefined> {
  const row = await selectRequests(database, visibility)
    .orderBy('created_at', 'desc')
    .orderBy('guid', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : toTestRequest(row);
}

/** The requests that have a number of a launch's patient, but another date of birth. */
export type OtherBirths = {
  /** The dates of birth in requests of the launch's practice, YYYY-MM-DD. */
  readonly own: readonly string[];
  /** Whether another practice has such a request. */
  readonly isElsewhere: boolean;
};

/**
 * Finds the dates of birth that differ from the date of the launch's patient, in requests with a same number.
 */
export async function findOtherBirths(
  database: OrderingDatabase,
  context: LaunchContext,
): Promise<OtherBirths> {
  const { patient, ...visibility } = visibilityUnder('patient', context);
  if (patient === undefined || patient.keys.length === 0) return { own: [], isElsewhere: false };
  const born = bornOn('test_requests');
  const rows = await database
    .selectFrom('test_requests')
    .select([born.as('born'), 'practice_key'])
    .distinct()
    .where(isVisible(visibility))
    .where(sql<SqlBool>`patient_keys && ${sql.val([...patient.keys])}::text[]`)
    .where(isSamePerson('test_requests', { numbers: patient.numbers }))
    .where(born, '<>', patient.birthDate)
    .execute();
  const practiceKeys = practiceKeysOf(context);
  const own = rows.filter((row) => practiceKeys.includes(row.practice_key));
  return { own: [...new Set(own.map((row) => row.born))].toSorted(), isElsewhere: own.length < rows.length };
}

/** Finds a request that a launch can see, and locks it until the end of the transaction. */
export async function lockRequest(
  tx: OrderingTransaction,
  guid: string,
  visibility: Visibility,
): Promise<TestRequest | undefined> {
  const row = await selectRequests(tx, visibility).where('guid', '=', guid).forUpdate().executeTakeFirst();
  return row === undefined ? undefined : toTestRequest(row);
}

/** Stores a new request. @param timeZone IANA time zone of the practices, for the search words */
export async function insertRequest(
  tx: OrderingTransaction,
  request: TestRequest,
  timeZone: string,
): Promise<void> {
  await tx.insertInto('test_requests').values(newRow(request, timeZone)).execute();
}

/**
 * Stores an amended request, which this transaction must have locked.
 * @param timeZone IANA time zone of the practices, for the search words
 */
export async function updateRequest(
  tx: OrderingTransaction,
  request: TestRequest,
  timeZone: string,
): Promise<void> {
  await tx
    .updateTable('test_requests')
    .set({ version: request.version, ...amendable(request, timeZone) })
    .where('guid', '=', request.guid)
    .execute();
}

const selectRequests = (database: OrderingDatabase, visibility: Visibility) =>
  database.selectFrom('test_requests').selectAll().where(isVisible(visibility));

/** Returns the row of `test_requests` for a new request. @param timeZone as in `insertRequest` */
export function newRow(request: TestRequest, timeZone: string) {
  const { client, parties, originatingId } = request;
  const { practice } = parties;
  return {
    guid: request.guid,
    launch_id: request.launchId,
    issuer: client.issuer,
    client_id: client.clientId,
    originating_id: originatingId,
    originating_key: originatingKeyOf(client, originatingId),
    practice_system: practice.identifier.system,
    practice_code: practice.identifier.value,
    practice_key: practiceKeyOf(practice, client),
    patient_keys: patientKeysOf(parties, client),
    version: request.version,
    parties: jsonb(parties),
    created_at: request.createdAt,
    ...amendable(request, timeZone),
  };
}

const amendable = (request: TestRequest, timeZone: string) => ({
  status: request.status,
  clinical_details: request.clinicalDetails,
  priority: request.priority,
  answers: jsonb([...request.answers]),
  batches: jsonb([...request.batches]),
  ...requestWords(request, timeZone),
  updated_at: request.updatedAt,
});

/** Returns the request in a row of `test_requests`. */
export function toTestRequest(row: Selectable<OrderingTables['test_requests']>): TestRequest {
  return {
    guid: row.guid,
    launchId: row.launch_id,
    client: { issuer: row.issuer, clientId: row.client_id },
    originatingId: row.originating_id,
    version: row.version,
    status: row.status,
    parties: row.parties,
    clinicalDetails: row.clinical_details,
    priority: row.priority,
    answers: row.answers,
    batches: row.batches,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
