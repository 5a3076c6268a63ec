import { type RawBuilder, sql } from 'kysely';
import {
  type IndexedRequest,
  type RequestSearch,
  type SoughtWord,
  wordsOfRequest,
} from '../domain/request-search.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { practiceKeyOf, type Visibility } from './keys.ts';

/**
 * Returns the column `words`, in which lists search. In the list of a practice, each word begins with a
 * prefix of that practice. A search therefore reads only the index entries of its own practice. Words for the
 * lists of patients all have the same prefix, because a patient has few requests.
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

/** Returns the `tsquery` for requests that match `search` but not `other`. */
export const differenceCondition = (
  search: RequestSearch,
  other: RequestSearch,
  visibility: Visibility,
): string => `${searchCondition(search, visibility)} & !${searchCondition(other, visibility)}`;

/** Returns the `tsquery` of a search. The `Visibility` decides which prefix the words have. */
export function searchCondition(search: RequestSearch, { practiceKeys, patient }: Visibility): string {
  const lists = patient === undefined ? practiceKeys?.map(prefixOf) : undefined;
  return or(
    (lists ?? [patientLists]).map((list) =>
      and(search.map((term) => or(term.map((words) => and(words.map((word) => sought(list, word))))))),
    ),
  );
}

const patientLists = 'p';

/** Returns a short prefix. If another practice has the same prefix, the `Visibility` excludes its requests. */
const prefixOf = (practiceKey: string) => practiceKey.slice(0, 8);

const lexeme = (list: string, word: string) => `${list}:${word}`;

/**
 * Returns the operand of a `tsquery`, in quotation marks. A word contains only letters, digits and `=`
 * (`domain/request-search.ts`), so it cannot contain a quotation mark.
 */
const sought = (list: string, { word, isWhole = false }: SoughtWord) =>
  `'${lexeme(list, word)}'${isWhole ? '' : ':*'}`;

const and = (parts: readonly string[]) => `(${parts.join(' & ')})`;
const or = (parts: readonly string[]) => `(${parts.join(' | ')})`;
