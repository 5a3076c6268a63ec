import { type Kysely, sql } from 'kysely';
import type { EarlierTest } from '../domain/repeats.ts';
import type { OrderingTables } from './database.ts';
import { lockPatient, type PatientSearch, repeatsOf } from './earlier-tests.ts';

/** What a submission asks of the database within its transaction. */
export type SubmissionWork = {
  /** Numbers that no other batch has. */
  readonly takeBatchNumbers: (count: number) => Promise<number[]>;
  /** Tests that were requested for the patient before; until the transaction ends no other submission adds to them. */
  readonly findEarlier: (search: PatientSearch) => Promise<EarlierTest[]>;
};

/** The work of one transaction. */
export function submissionWork(transaction: Kysely<OrderingTables>): SubmissionWork {
  return {
    async takeBatchNumbers(count) {
      const { rows } = await sql<{ number: string }>`
        select nextval('ordering.batch_numbers') as number from generate_series(1, ${count}::integer)
      `.execute(transaction);
      return rows.map(({ number }) => Number(number));
    },
    async findEarlier(search) {
      await lockPatient(transaction, search.patientKeys);
      return repeatsOf(transaction, search);
    },
  };
}
