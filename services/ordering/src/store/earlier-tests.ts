import type { PersonName } from '@clinical-launch/contracts/launch-context';
import { sql } from 'kysely';
import type { EarlierTest, RepeatSearch } from '../domain/repeats.ts';
import type { OrderingDatabase, OrderingTransaction } from './database.ts';
import { isOfBoundPractice, isOfPatient, type SoughtPatient, type Visibility } from './keys.ts';

export type PatientSearch = RepeatSearch &
  Pick<Visibility, 'practices'> & {
    readonly patient: SoughtPatient;
    /** The request that the user is changing, which is not an earlier request. */
    readonly except?: string;
  };

type FoundTest = EarlierTest & { readonly patient: PersonName };

type Row = {
  code: string;
  description: string;
  requested_at: Date;
  requester: PersonName;
  patient: PersonName;
  status: string;
  container: string | null;
  provider: string;
  order_reference: string;
};

/**
 * Finds the latest requests of each of these codes for a patient, from any requester, without removed tests.
 * For a client with a practice binding, finds only requests of its practices. Returns at most two rows for
 * each code: the latest request with a collected sample, and the latest request without a collected sample.
 * Reads each request of the patient only once.
 */
export async function findEarlierTests(
  database: OrderingDatabase,
  { patient, practices, codes, since, except }: PatientSearch,
): Promise<FoundTest[]> {
  const isBound = practices === undefined ? sql`true` : isOfBoundPractice('request', practices);
  const { rows } = await sql<Row>`
    with requested as materialized (
      select
        test -> 'code' ->> 'value' as code,
        test ->> 'description' as description,
        coalesce((test ->> 'requestedAt')::timestamptz, request.created_at) as requested_at,
        request.parties -> 'requester' -> 'name' as requester,
        request.parties -> 'patient' -> 'name' as patient,
        test ->> 'status' as status,
        test ->> 'sample' as sample,
        batch -> 'samples' as samples,
        batch -> 'provider' ->> 'name' as provider,
        batch ->> 'orderReference' as order_reference
      from ordering.test_requests request
        cross join lateral jsonb_array_elements(request.batches) batch
        cross join lateral jsonb_array_elements(batch -> 'tests') test
      where ${isOfPatient('request', patient)}
        and ${isBound}
        and request.updated_at >= ${since}::timestamptz
        and request.guid is distinct from ${except ?? null}::uuid
        and test -> 'code' ->> 'value' = any(${[...codes]}::text[])
        and test ->> 'status' <> 'D'
    )
    select distinct on (code, status)
      code, description, requested_at, requester, patient, status, provider, order_reference,
      (select sample_of ->> 'container' from jsonb_array_elements(samples) sample_of
        where sample_of ->> 'id' = sample) as container
    from requested
    where requested_at >= ${since}::timestamptz
    order by code, status, requested_at desc`.execute(database);
  return rows.map(toEarlierTest);
}

function toEarlierTest({ container, ...row }: Row): FoundTest {
  return {
    code: row.code,
    description: row.description,
    requestedAt: row.requested_at.toISOString(),
    requester: row.requester,
    patient: row.patient,
    isSampleTaken: row.status === 'S',
    provider: row.provider,
    orderReference: row.order_reference,
    ...(container === null ? {} : { container }),
  };
}

/**
 * Serialises submissions for a patient until the transaction ends. Of two concurrent orders of the same test,
 * the second waits and then finds the first. Locks the keys in a fixed order to avoid a deadlock.
 */
export async function lockPatient(tx: OrderingTransaction, patientKeys: readonly string[]): Promise<void> {
  for (const key of patientKeys.toSorted()) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(tx);
  }
}
