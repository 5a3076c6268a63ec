import type { PersonName } from '@clinical-launch/contracts';
import { isLive } from './lifecycle.ts';
import type { TestRequest } from './test-request.ts';
import { takeDates } from './written-dates.ts';

/** A word to look for: whole, or as the beginning of a word. */
export type SoughtWord = { readonly word: string; readonly isWhole?: boolean };

/** What is looked for: every term must be met, each by one of its alternatives, of which all words must be there. */
export type RequestSearch = readonly (readonly (readonly SoughtWord[])[])[];

/**
 * By which words a request is found: in the list of a practice by whom it is for, in that of a patient by what it is.
 */
export type RequestWords = { readonly ofPractice: readonly string[]; readonly ofPatient: readonly string[] };

const maxTerms = 8;
const maxWordLength = 64;

/** Letters that are not a letter with an accent, as they are typed without one. */
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

/** The parts of a text as they are compared: `Ó Súilleabháin-Kelly` becomes `o`, `suilleabhain`, `kelly`. */
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
 * The parts of a text, each of its words whole, and all as one: `Smith-O’Brien` has `smith`, `o`, `brien`, `obrien`,
 * …
 */
function wordsOf(text: string): string[] {
  const words = text.split(/[\s-]+/).map((word) => joined(partsOf(word)));
  return [...partsOf(text), ...words, joined(partsOf(text))].filter((word) => word !== '');
}

const wordsOfName = ({ title = '', family, given }: PersonName) =>
  [title, family, ...given, given.join(' ')].flatMap(wordsOf);

/** No word of a text has this sign, so that a day is never taken for a number. */
const bornWord = (day: string) => `=${day.replaceAll('-', '')}`;

/** The words by which a request is found. A test that was removed is not among them. */
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
 * Reads what a user looks for. Every word must be the beginning of one of the request's, in any order; a date means
 * the day of birth; a number may be written with spaces. Undefined when there is nothing to look for; of a text
 * without a letter or a digit nothing is found.
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

/** The words between the spaces, with numbers that follow each other as one: `943 476 5919`. */
function joinNumbers(text: string): string[] {
  return text
    .trim()
    .replace(/(?<=(?<!\S)\d+)\s+(?=\d+(?!\S))/g, '')
    .split(/\s+/);
}

/** `O’Brien` as one word or as two; what has a digit (`NCP-000042`) as one, since half of a number means nothing. */
function termOf(text: string): SoughtWord[][] {
  const parts = partsOf(text);
  if (parts.length === 0) return [];
  const whole = [{ word: joined(parts) }];
  const isNumber = parts.some((part) => /\p{N}/u.test(part));
  return parts.length === 1 || isNumber ? [whole] : [whole, parts.map((word) => ({ word }))];
}
