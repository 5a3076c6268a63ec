import { type RawBuilder, sql } from 'kysely';
import { type RequestSearch, type SoughtWord, wordsOfRequest } from '../domain/request-search.ts';
import type { TestRequest } from '../domain/test-request.ts';
import type { OrderingTransaction } from './database.ts';
import { practiceKeyOf, type Sight } from './keys.ts';

/**
 * The version of the rules that make the words of a request: `wordsOfRequest`, and the lexemes of this file.
 * Raise it with each change of them: the running service then indexes again what an older version indexed.
 */
export const wordsVersion = 1;

/**
 * Makes the columns by which a request is found. What it is found by in the list of a practice stands behind
 * the practice: a search reads the entries of its own practice in the index, and takes no longer for what
 * others have. What it is found by in the list of a patient stands behind a sign that all have, since a
 * patient's requests are few.
 */
export function requestWords({ client, parties, batches }: IndexedRequest): {
  words: RawBuilder<string>;
  words_version: number;
} {
  const { ofPractice, ofPatient } = wordsOfRequest({ parties, batches });
  const ownList = beginningOf(practiceKeyOf(parties.practice, client));
  const lexemes = [
    ...ofPractice.map((word) => lexeme(ownList, word)),
    ...ofPatient.map((word) => lexeme(patientLists, word)),
  ];
  return {
    words: sql<string>`array_to_tsvector(${sql.val(lexemes)}::text[])`,
    words_version: wordsVersion,
  };
}

type IndexedRequest = Pick<TestRequest, 'client' | 'parties' | 'batches'>;

/**
 * Finds requests that an older version of the words indexed, for this transaction alone until it ends. Leaves
 * out what another transaction holds: it is indexed there, or found the next time.
 * @param limit the most requests that are found
 */
export async function lockOutdatedWords(
  transaction: OrderingTransaction,
  limit: number,
): Promise<(IndexedRequest & { readonly guid: string })[]> {
  const rows = await transaction
    .selectFrom('test_requests')
    .select(['guid', 'issuer', 'client_id', 'parties', 'batches'])
    .where('words_version', '<', wordsVersion)
    .limit(limit)
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
  return rows.map(({ issuer, client_id: clientId, ...request }) => ({
    ...request,
    client: { issuer, clientId },
  }));
}

/** Stores the words of a request, and nothing else of it. */
export async function updateWords(
  transaction: OrderingTransaction,
  request: IndexedRequest & { readonly guid: string },
): Promise<void> {
  await transaction
    .updateTable('test_requests')
    .set(requestWords(request))
    .where('guid', '=', request.guid)
    .execute();
}

/** The `tsquery` for what is looked for among the requests of a sight. */
export function searchCondition(search: RequestSearch, { practiceKey, patientKeys }: Sight): string {
  const list =
    practiceKey === undefined || patientKeys !== undefined ? patientLists : beginningOf(practiceKey);
  return and(search.map((term) => or(term.map((words) => and(words.map((word) => sought(list, word)))))));
}

const patientLists = 'p';

/** Enough to tell practices apart, since the sight decides: were two alike, their rows would be left out one by one. */
const beginningOf = (practiceKey: string) => practiceKey.slice(0, 8);

const lexeme = (list: string, word: string) => `${list}:${word}`;

/** A word has letters, digits and `=` alone (`domain/request-search.ts`), so that nothing ends the quotes. */
const sought = (list: string, { word, isWhole = false }: SoughtWord) =>
  `'${lexeme(list, word)}'${isWhole ? '' : ':*'}`;

const and = (parts: readonly string[]) => `(${parts.join(' & ')})`;
const or = (parts: readonly string[]) => `(${parts.join(' | ')})`;
