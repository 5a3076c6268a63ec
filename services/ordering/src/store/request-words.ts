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
 * Returns the columns that a request is searched by. The words for a practice's list begin with the practice,
 * so that a search reads only its own practice's index entries, and is not slowed by others. The words for a
 * patient's list share one prefix, because a patient has few requests.
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

/** Returns the `tsquery` of the requests that one search finds and another does not. */
export const differenceCondition = (search: RequestSearch, other: RequestSearch, sight: Sight): string =>
  `${searchCondition(search, sight)} & !${searchCondition(other, sight)}`;

/** Returns the `tsquery` of a search among the requests of a sight. */
export function searchCondition(search: RequestSearch, { practiceKey, patientKeys }: Sight): string {
  const list = practiceKey === undefined || patientKeys !== undefined ? patientLists : prefixOf(practiceKey);
  return and(search.map((term) => or(term.map((words) => and(words.map((word) => sought(list, word)))))));
}

const patientLists = 'p';

/** A short prefix is enough, because the sight filters out rows of another practice with the same prefix. */
const prefixOf = (practiceKey: string) => practiceKey.slice(0, 8);

const lexeme = (list: string, word: string) => `${list}:${word}`;

/**
 * A word contains only letters, digits and `=` (`domain/request-search.ts`), so nothing can end the
 * quotation.
 */
const sought = (list: string, { word, isWhole = false }: SoughtWord) =>
  `'${lexeme(list, word)}'${isWhole ? '' : ':*'}`;

const and = (parts: readonly string[]) => `(${parts.join(' & ')})`;
const or = (parts: readonly string[]) => `(${parts.join(' | ')})`;
