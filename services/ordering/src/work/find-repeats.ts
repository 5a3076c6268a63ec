import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import type { Catalogue, Orderable } from '../domain/catalogue.ts';
import type { Draft } from '../domain/draft.ts';
import { findRepeats, type Repeat, repeatSearch } from '../domain/repeats.ts';
import { selectionOf } from '../domain/selection.ts';
import type { TestRequest } from '../domain/test-request.ts';
import type { OrderingDatabase, OrderingTransaction } from '../store/database.ts';
import { findEarlierTests, lockPatient, type PatientSearch } from '../store/earlier-tests.ts';
import { boundSightOf, nationalNumbersOf, patientKeysOf } from '../store/keys.ts';

export type RepeatsBasis = {
  readonly tests: readonly Orderable[];
  readonly catalogue: Catalogue;
  readonly context: LaunchContext;
  /** The request that is changed, which does not count as its own repeat. */
  readonly changed?: TestRequest | undefined;
  /** Milliseconds since 1970-01-01T00:00:00Z */
  readonly now: number;
  /** IANA name of the practice's zone */
  readonly timeZone: string;
};

/** Returns the tests that were requested for the launch's patient before (`Repeat`). */
export async function repeatsAmong(database: OrderingDatabase, basis: RepeatsBasis): Promise<Repeat[]> {
  if (basis.tests.length === 0) return [];
  return findRepeats({ ...basis, earlier: await findEarlierTests(database, searchOf(basis)) });
}

/**
 * As `repeatsAmong`, for the tests with a minimum interval. Until the transaction ends, no other submission
 * adds to the patient's requests.
 */
export async function lockRepeatsAmong(tx: OrderingTransaction, basis: RepeatsBasis): Promise<Repeat[]> {
  const limited = {
    ...basis,
    tests: basis.tests.filter(({ minimumIntervalDays }) => minimumIntervalDays !== undefined),
  };
  if (limited.tests.length > 0) await lockPatient(tx, searchOf(limited).patientKeys);
  return repeatsAmong(tx, limited);
}

/** Returns the codes of a draft's tests that an earlier request serves, by its order reference. */
export async function servedBy(
  database: OrderingDatabase,
  { draft, orderReference, ...basis }: Omit<RepeatsBasis, 'tests'> & { draft: Draft; orderReference: string },
): Promise<string[]> {
  const { addedTests } = selectionOf(draft, basis.catalogue);
  const repeats = await repeatsAmong(database, { ...basis, tests: addedTests });
  return repeats
    .filter(({ usable }) => usable?.orderReference === orderReference)
    .map(({ test }) => test.code);
}

function searchOf({ tests, catalogue, context, changed, now }: RepeatsBasis): PatientSearch {
  const { client, request } = context;
  return {
    ...repeatSearch(tests, catalogue, now),
    patientKeys: patientKeysOf(request, client),
    patientNumbers: nationalNumbersOf(request.patient),
    ...boundSightOf(client),
    ...(changed === undefined ? {} : { except: changed.guid }),
  };
}
