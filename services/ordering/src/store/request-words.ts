import { type RawBuilder, sql } from 'kysely';
import { type RequestSearch, type SoughtWord, wordsOfRequest } from '../domain/request-search.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { practiceKeyOf, type Sight } from './keys.ts';

/**
 * The column `words` of a request. What it is found by in the list of a practice stands behind the practice: a search
 * reads the entries of its own practice in the index, and takes no longer for what others have. What it is found by
 * in the list of a patient stands behind a sign that all have, since a patient's requests are few.
 */
export function requestWords({
  client,
  parties,
  batches,
}: Pick<TestRequest, 'client' | 'parties' | 'batches'>): RawBuilder<string> {
  const { ofPractice, ofPatient } = wordsOfRequest({ parties, batches });
  const ownList = beginningOf(practiceKeyOf(parties.practice, client));
  const lexemes = [
    ...ofPractice.map((word) => lexeme(ownList, word)),
    ...ofPatient.map((word) => lexeme(patientLists, word)),
  ];
  return sql<string>`array_to_tsvector(${sql.val(lexemes)}::text[])`;
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
