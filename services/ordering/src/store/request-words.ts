import { type RawBuilder, sql } from 'kysely';
import {
  type IndexedRequest,
  type RequestSearch,
  type SoughtWord,
  wordsOfRequest,
} from '../domain/request-search.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { practiceKeyOf, type Sight } from './keys.ts';

/**
 * Returns the columns by which a request is found. The words for the list of a practice have the practice as
 * prefix. So a search reads only the entries of its own practice in the index, and does not become slower by
 * those of others. The words for the list of a patient have a common prefix, because a patient has few
 * requests.
 * @param timeZone IANA zone of the practices
 */
export function requestWords(
  { client, ...request }: IndexedRequest & Pick<TestRequest, 'client'>,
  timeZone: string,
): { words: RawBuilder<string> } {
  const { ofPractice, ofPatient } = wordsOfRequest(request, timeZone);
  const ownList = prefixOf(practiceKeyOf(request.parties.practice, client));
  const lexemes = [
    ...ofPractice.map((word) => lexeme(ownList, word)),
    ...ofPatient.map((word) => lexeme(patientLists, word)),
  ];
  return { words: sql<string>`array_to_tsvector(${sql.val(lexemes)}::text[])` };
}

/** Returns the `tsquery` of what a search finds and another does not. */
export const differenceCondition = (search: RequestSearch, other: RequestSearch, sight: Sight): string =>
  `${searchCondition(search, sight)} & !${searchCondition(other, sight)}`;

/** Returns the `tsquery` of a search among the requests of a sight. */
export function searchCondition(search: RequestSearch, { practiceKey, patientKeys }: Sight): string {
  const list = practiceKey === undefined || patientKeys !== undefined ? patientLists : prefixOf(practiceKey);
  return and(search.map((term) => or(term.map((words) => and(words.map((word) => sought(list, word)))))));
}

const patientLists = 'p';

/**
 * Enough to distinguish practices, because the sight decides: rows of another practice with the same prefix
 * are filtered out.
 */
const prefixOf = (practiceKey: string) => practiceKey.slice(0, 8);

const lexeme = (list: string, word: string) => `${list}:${word}`;

/**
 * A word contains only letters, digits and `=` (`domain/request-search.ts`), so that nothing ends the quotes.
 */
const sought = (list: string, { word, isWhole = false }: SoughtWord) =>
  `'${lexeme(list, word)}'${isWhole ? '' : ':*'}`;

const and = (parts: readonly string[]) => `(${parts.join(' & ')})`;
const or = (parts: readonly string[]) => `(${parts.join(' | ')})`;
