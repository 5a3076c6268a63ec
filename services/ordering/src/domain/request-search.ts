import type { PersonName } from '@clinical-launch/contracts';
import { isLive } from './lifecycle.ts';
import type { TestRequest } from './test-request.ts';
import { takeDates } from './written-dates.ts';

/** A word to search for: a whole word, or the beginning of one. */
export type SoughtWord = { readonly word: string; readonly isWhole?: boolean };

/**
 * A search: every term must match by one of its alternatives, and every word of that alternative must be
 * present.
 */
export type RequestSearch = readonly (readonly (readonly SoughtWord[])[])[];

/**
 * The words by which a request is found: in the list of a practice by its patient, in that of a patient by
 * its tests.
 */
export type RequestWords = { readonly ofPractice: readonly string[]; readonly ofPatient: readonly string[] };

const maxTerms = 8;
const maxWordLength = 64;

/** Letters without a base letter and accent, as people type them without accents. */
const plainLetters: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ß: 'ss',
  ı: 'i',
};

/**
 * Returns the parts of a text for comparison: `Ó Súilleabháin-Kelly` becomes `o`, `suilleabhain`, `kelly`.
 */
function partsOf(text: string): string[] {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[æœøłđðþßı]/g, (letter) => plainLetters[letter] ?? letter)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '')
    .map((part) => part.slice(0, maxWordLength));
}

const joined = (parts: readonly string[]) => parts.join('').slice(0, maxWordLength);

/**
 * Returns the parts of a text, each of its words whole, and all as one: `Smith-O’Brien` has `smith`, `o`,
 * `brien`, `obrien`, …
 */
function wordsOf(text: string): string[] {
  const words = text.split(/[\s-]+/).map((word) => joined(partsOf(word)));
  return [...partsOf(text), ...words, joined(partsOf(text))].filter((word) => word !== '');
}

const wordsOfName = ({ title = '', family, given }: PersonName) =>
  [title, family, ...given, given.join(' ')].flatMap(wordsOf);

/** Returns a date of birth with a sign that no word of a text has, so that it never matches a number. */
const bornWord = (day: string) => `=${day.replaceAll('-', '')}`;

/** Returns the words by which a request is found, without those of removed tests. */
export function wordsOfRequest({ parties, batches }: Pick<TestRequest, 'parties' | 'batches'>): RequestWords {
  const { patient, requester } = parties;
  const references = batches.flatMap(({ orderReference }) => wordsOf(orderReference));
  const tests = batches.flatMap((batch) => batch.tests.filter(isLive));
  return {
    ofPractice: unique([
      ...wordsOfName(patient.name),
      ...wordsOf(patient.previousFamilyName ?? ''),
      bornWord(patient.birthDate),
      ...patient.identifiers.flatMap(({ value }) => wordsOf(value)),
      ...references,
      ...wordsOfName(requester.name),
      ...wordsOf(requester.identifier.value),
    ]),
    ofPatient: unique([
      ...references,
      ...tests.flatMap(({ description, code }) => [...wordsOf(description), ...wordsOf(code.value)]),
    ]),
  };
}

const unique = (words: readonly string[]) => [...new Set(words)];

/**
 * Reads a user's search. Every word must be the beginning of a word of the request, in any order. A date
 * means the date of birth; a number may contain spaces. Returns undefined for an empty search; a text without
 * a letter or a digit finds nothing.
 */
export function readRequestSearch(text: string): RequestSearch | undefined {
  if (text.trim() === '') return undefined;
  const { dates, rest } = takeDates(text);
  const born = dates.map(({ days, digits }) => [
    ...days.map((day) => [{ word: bornWord(day), isWhole: true }]),
    ...(digits === undefined ? [] : [[{ word: digits }]]),
  ]);
  return [...born, ...joinNumbers(rest).map(termOf)].filter((term) => term.length > 0).slice(0, maxTerms);
}

/** Returns the words between the spaces, with consecutive numbers joined: `943 476 5919`. */
function joinNumbers(text: string): string[] {
  return text
    .trim()
    .replace(/(?<=(?<!\S)\d+)\s+(?=\d+(?!\S))/g, '')
    .split(/\s+/);
}

/**
 * Returns `O’Brien` as one word or as two; a word with a digit (`NCP-000042`) as one, because half of a
 * number means nothing.
 */
function termOf(text: string): SoughtWord[][] {
  const parts = partsOf(text);
  if (parts.length === 0) return [];
  const whole = [{ word: joined(parts) }];
  const isNumber = parts.some((part) => /\p{N}/u.test(part));
  return parts.length === 1 || isNumber ? [whole] : [whole, parts.map((word) => ({ word }))];
}
