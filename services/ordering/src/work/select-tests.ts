import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Orderable } from '../domain/catalogue.ts';
import type { Draft } from '../domain/draft.ts';
import { isSameName } from '../domain/person-name.ts';
import { findRepeats, type Repeat, repeatSearch } from '../domain/repeats.ts';
import { decideReview, type ReviewOutcome } from '../domain/review.ts';
import { type Selection, selectionOf } from '../domain/selection.ts';
import type { OrderingDatabase, OrderingTransaction } from '../store/database.ts';
import { findEarlierTests, lockPatient, type PatientSearch } from '../store/earlier-tests.ts';
import { boundVisibilityOf, soughtPatientOf } from '../store/keys.ts';
import type { Choosing } from './launch.ts';

/** The parts of `Choosing` on which repeats depend. */
export type RepeatsBasis = Pick<Choosing, 'catalogue' | 'context' | 'changed' | 'now' | 'timeZone'>;

/** The tests of a draft, and the repeats among the tests that the draft adds. */
export type Selected = { readonly selection: Selection; readonly repeats: readonly Repeat[] };

/** Returns the tests of a draft, and finds the added tests that were requested for the patient before. */
export async function selectTests(
  database: OrderingDatabase,
  basis: RepeatsBasis,
  draft: Draft,
): Promise<Selected> {
  const selection = selectionOf(draft, basis.catalogue);
  return { selection, repeats: await repeatsAmong(database, basis, selection.addedTests) };
}

/**
 * Returns the result of `selectTests` with only the repeats of tests that have a minimum interval. If the
 * draft adds any of these tests, blocks other submissions of such tests for the patient until the transaction
 * ends.
 */
async function selectAndLock(tx: OrderingTransaction, basis: RepeatsBasis, draft: Draft): Promise<Selected> {
  const selection = selectionOf(draft, basis.catalogue);
  const limited = selection.addedTests.filter(({ minimumIntervalDays }) => minimumIntervalDays !== undefined);
  if (limited.length > 0) await lockPatient(tx, searchOf(basis, limited).patient.keys);
  return { selection, repeats: await repeatsAmong(tx, basis, limited) };
}

/** Returns the codes of a draft's tests that the earlier request with this reference can replace. */
export async function servedBy(
  database: OrderingDatabase,
  basis: RepeatsBasis,
  { draft, orderReference }: { readonly draft: Draft; readonly orderReference: string },
): Promise<string[]> {
  const { repeats } = await selectTests(database, basis, draft);
  return repeats
    .filter(({ usable }) => usable?.orderReference === orderReference)
    .map(({ test }) => test.code);
}

/** Finds the repeats among tests: those that were requested for the patient before. */
export async function repeatsAmong(
  database: OrderingDatabase,
  basis: RepeatsBasis,
  tests: readonly Orderable[],
): Promise<Repeat[]> {
  if (tests.length === 0) return [];
  const { name } = basis.context.request.patient;
  const found = await findEarlierTests(database, searchOf(basis, tests));
  const earlier = found.map(({ patient, ...test }) =>
    isSameName(patient, name) ? test : { ...test, otherPatient: patient },
  );
  return findRepeats({ ...basis, tests, earlier });
}

function searchOf(
  { catalogue, context, changed, now }: RepeatsBasis,
  tests: readonly Orderable[],
): PatientSearch {
  const { client, request } = context;
  return {
    ...repeatSearch(tests, catalogue, now),
    patient: soughtPatientOf(request, client),
    ...boundVisibilityOf(client),
    ...withoutUndefined({ except: changed?.guid }),
  };
}

/**
 * Validates a draft. Returns the values to store, or all errors. Until the transaction ends, no other
 * submission can add a repeat of the checked tests.
 */
export async function decideSubmission(
  tx: OrderingTransaction,
  choosing: Choosing,
  draft: Draft,
): Promise<{ readonly selection: Selection; readonly review: ReviewOutcome }> {
  const { patient, now, timeZone } = choosing;
  const { selection, repeats } = await selectAndLock(tx, choosing, draft);
  return { selection, review: decideReview({ draft, ...selection, patient, repeats, now, timeZone }) };
}
