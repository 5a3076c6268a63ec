import { readPatientIdentifier } from '@clinical-launch/contracts';
import { type RawBuilder, sql } from 'kysely';
import { type RequestSearch, type SoughtWord, wordsOfRequest } from '../domain/request-search.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { jsonb, type OrderingTransaction } from './database.ts';
import { patientKeysOf, practiceKeyOf, type Sight } from './keys.ts';

/**
 * The version of the rules for the words of a request: `wordsOfRequest`, and the lexemes of this file. Raise
 * it with each change of them: the running service then reindexes older requests.
 */
export const wordsVersion = 2;

/**
 * Returns the columns by which a request is found. The words for the list of a practice have the practice as
 * prefix. So a search reads only the entries of its own practice in the index, and does not become slower by
 * those of others. The words for the list of a patient have a common prefix, because a patient has few
 * requests.
 * @param timeZone IANA zone of the practices
 */
export function requestWords(
  { client, parties, batches, createdAt }: IndexedRequest,
  timeZone: string,
): {
  words: RawBuilder<string>;
  words_version: number;
} {
  const { ofPractice, ofPatient } = wordsOfRequest({ parties, batches, createdAt }, timeZone);
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

type IndexedRequest = Pick<TestRequest, 'client' | 'parties' | 'batches' | 'createdAt'>;

/**
 * Finds requests with an older version of the words, and locks them until the end of this transaction. Skips
 * requests that another transaction has locked: they are indexed there, or found the next time.
 * @param limit the maximum number of requests
 */
export async function lockOutdatedWords(
  transaction: OrderingTransaction,
  limit: number,
): Promise<(IndexedRequest & { readonly guid: string })[]> {
  const rows = await transaction
    .selectFrom('test_requests')
    .select(['guid', 'issuer', 'client_id', 'parties', 'batches', 'created_at'])
    .where('words_version', '<', wordsVersion)
    .limit(limit)
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
  return rows.map(({ issuer, client_id: clientId, created_at: createdAt, ...request }) => ({
    ...request,
    client: { issuer, clientId },
    createdAt: createdAt.toISOString(),
  }));
}

/**
 * Stores the words of a request, and its identifiers and keys as this release writes them: a process of an
 * older release may have written others (`migrations/007-local-practices.ts`, `009-patient-spelling.ts`).
 * @param timeZone IANA zone of the practices
 */
export async function updateWords(
  transaction: OrderingTransaction,
  { guid, parties, ...request }: IndexedRequest & { readonly guid: string },
  timeZone: string,
): Promise<void> {
  const identifiers = parties.patient.identifiers.map(readPatientIdentifier);
  const spelt = { ...parties, patient: { ...parties.patient, identifiers } };
  await transaction
    .updateTable('test_requests')
    .set({
      parties: jsonb(spelt),
      practice_key: practiceKeyOf(parties.practice, request.client),
      patient_keys: patientKeysOf(spelt, request.client),
      ...requestWords({ ...request, parties: spelt }, timeZone),
    })
    .where('guid', '=', guid)
    .execute();
}

/** Returns the `tsquery` of a search among the requests of a sight. */
export function searchCondition(search: RequestSearch, { practiceKey, patientKeys }: Sight): string {
  const list =
    practiceKey === undefined || patientKeys !== undefined ? patientLists : beginningOf(practiceKey);
  return and(search.map((term) => or(term.map((words) => and(words.map((word) => sought(list, word)))))));
}

const patientLists = 'p';

/**
 * Enough to distinguish practices, because the sight decides: rows of another practice with the same prefix
 * are filtered out.
 */
const beginningOf = (practiceKey: string) => practiceKey.slice(0, 8);

const lexeme = (list: string, word: string) => `${list}:${word}`;

/**
 * A word contains only letters, digits and `=` (`domain/request-search.ts`), so that nothing ends the quotes.
 */
const sought = (list: string, { word, isWhole = false }: SoughtWord) =>
  `'${lexeme(list, word)}'${isWhole ? '' : ':*'}`;

const and = (parts: readonly string[]) => `(${parts.join(' & ')})`;
const or = (parts: readonly string[]) => `(${parts.join(' | ')})`;
