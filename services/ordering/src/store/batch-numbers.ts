import { sql } from 'kysely';
import type { OrderingTransaction } from './database.ts';

/** Reserves numbers that no other batch has. */
export async function takeBatchNumbers(tx: OrderingTransaction, count: number): Promise<number[]> {
  const { rows } = await sql<{ number: string }>`
    select nextval('ordering.batch_numbers') as number from generate_series(1, ${count}::integer)
  `.execute(tx);
  return rows.map(({ number }) => Number(number));
}
