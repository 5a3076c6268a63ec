import type { LaunchContext } from '@clinical-launch/contracts';
import type { Catalogue, Orderable } from '../domain/catalogue.ts';
import { findRepeats, type Repeat, repeatSearch } from '../domain/repeats.ts';
import type { OrderingDatabase, OrderingTransaction } from '../store/database.ts';
import { findEarlierTests, lockPatient, type PatientSearch } from '../store/earlier-tests.ts';
import { boundSightOf, nationalNumbersOf, patientKeysOf } from '../store/keys.ts';

export type RepeatsBasis = {
  readonly tests: readonly Orderable[];
  readonly catalogue: Catalogue;
  readonly context: LaunchContext;
  /** The request that is changed, which does not count as its own repeat. */
  readonly changed?: { readonly guid: string } | undefined;
  /** Milliseconds since 1970-01-01T00:00:00Z */
  readonly now: number;
  /** IANA name of the practice's zone */
  readonly timeZone: string;
};

/** Returns the tests that were requested for the launch's patient within their minimum interval. */
export async function repeatsAmong(database: OrderingDatabase, basis: RepeatsBasis): Promise<Repeat[]> {
  const search = searchOf(basis);
  return search === undefined
    ? []
    : findRepeats({ ...basis, earlier: await findEarlierTests(database, search) });
}

/** As `repeatsAmong`. Until the transaction ends, no other submission adds to the patient's requests. */
export async function lockRepeatsAmong(tx: OrderingTransaction, basis: RepeatsBasis): Promise<Repeat[]> {
  const search = searchOf(basis);
  if (search === undefined) return [];
  await lockPatient(tx, search.patientKeys);
  return findRepeats({ ...basis, earlier: await findEarlierTests(tx, search) });
}

function searchOf({ tests, catalogue, context, changed, now }: RepeatsBasis): PatientSearch | undefined {
  const { client, request } = context;
  const search = repeatSearch(tests, catalogue, now);
  return (
    search && {
      ...search,
      patientKeys: patientKeysOf(request, client),
      patientNumbers: nationalNumbersOf(request.patient),
      ...boundSightOf(client),
      ...(changed === undefined ? {} : { except: changed.guid }),
    }
  );
}
