import { codeKeyOf } from '@clinical-launch/contracts/coded-identifiers';
import type { PersonName } from '@clinical-launch/contracts/launch-context';
import { localDay } from '@clinical-launch/contracts/time';
import type { Catalogue } from './catalogue.ts';
import { isLive, isOnlyElsewhere } from './lifecycle.ts';
import type { TestRequest } from './test-request.ts';
import { takeDates, takeDaysInWords } from './written-dates.ts';

/** A word to search for: a whole word, or the beginning of a word. */
export type SoughtWord = { readonly word: string; readonly isWhole?: boolean };

/**
 * The terms of a search. Each term has alternatives, and each alternative has words. A request matches a term
 * if the request contains every word of one alternative. It must match every term.
 */
export type RequestSearch = readonly (readonly (readonly SoughtWord[])[])[];

/**
 * The indexed words of a request. Only the words for the list of a practice include the patient and the
 * requester.
 */
export type RequestWords = { readonly ofPractice: readonly string[]; readonly ofPatient: readonly string[] };

const maxTerms = 8;
const maxWordLength = 64;

/** Letters that NFKD does not decompose, with the letters that people type instead. */
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
 * Returns the parts of a text in lower case without accents: `Ó Súilleabháin-Kelly` becomes `o`,
 * `suilleabhain`, `kelly`.
 */
function partsOf(text: string): string[] {
  return (
    text
      .toLowerCase()
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .replace(/[æœøłđðþßı]/g, (letter) => plainLetters[letter] ?? letter)
      // U+02BB and U+02BC are letters to Unicode, but people type them as apostrophes.
      .split(/[^\p{L}\p{N}]+|[\u02BB\u02BC]/u)
      .filter((part) => part !== '')
      .map((part) => part.slice(0, maxWordLength))
  );
}

/** Returns only the letters and digits of a text, in lower case without accents. */
export const lettersOf = (text: string): string => partsOf(text).join('');

const joined = (parts: readonly string[]) => parts.join('').slice(0, maxWordLength);

/**
 * Returns the indexed words of a text: each part, each word between spaces or hyphens, and the whole text.
 * `Smith-O’Brien` has the words `smith`, `o`, `brien`, `obrien` and `smithobrien`.
 */
function wordsOf(text: string): string[] {
  const words = text.split(/[\s-]+/).map((word) => joined(partsOf(word)));
  return [...partsOf(text), ...words, joined(partsOf(text))].filter((word) => word !== '');
}

const wordsOfName = ({ title = '', family, given }: PersonName) =>
  [title, family, ...given, given.join(' ')].flatMap(wordsOf);

/** Returns the index term for a date of birth. Its prefix prevents a match with a typed number. */
const bornWord = (day: string) => `=${day.replaceAll('-', '')}`;

/** Returns the index term for the day on which a request was made, with a different prefix. */
const requestedWord = (day: string) => `=d${day.replaceAll('-', '')}`;

/** The index term that every urgent request has. */
const urgentWord = '=u';

/** The index term that every request has while only another place must collect its samples. */
export const elsewhereWord = '=e';

/** Returns the index term for a code, in hexadecimal digits, so that different codes have different terms. */
const coded = (sign: string, code: string) => `=${sign}${Buffer.from(code).toString('hex')}`;

/** Returns the index term that every request with this test has. */
export const testWord = (code: string) => coded('t', code);

/** Returns the key of a laboratory. */
export const laboratoryKeyOf = ({ value, scheme }: { readonly value: string; readonly scheme: string }) =>
  `${scheme} ${value}`;

/** Returns the index term that every request with tests for a laboratory has (`laboratoryKeyOf`). */
export const laboratoryWord = (key: string) => coded('l', key);

/**
 * Returns the index term that every request of a requester has, by the key of the identifier (`codeKeyOf`).
 */
export const requesterWord = (key: string) => coded('r', key);

/** The parts of a request that are indexed. */
export type IndexedRequest = Pick<TestRequest, 'parties' | 'batches' | 'priority' | 'createdAt'>;

/**
 * Returns the indexed words of a request. Omits the words of removed tests.
 * @param timeZone IANA zone of the practice, for the day of the request
 */
export function wordsOfRequest(
  { parties, batches, priority, createdAt }: IndexedRequest,
  timeZone: string,
): RequestWords {
  const { patient, requester } = parties;
  const live = batches.map((batch) => ({ ...batch, tests: batch.tests.filter(isLive) }));
  const tests = live.flatMap((batch) => batch.tests);
  const ofBoth = [
    ...batches.flatMap(({ orderReference }) => wordsOf(orderReference)),
    ...tests.flatMap(({ description, code }) => [...wordsOf(description), ...wordsOf(code.value)]),
    ...tests.map(({ code }) => testWord(code.value)),
    ...live
      .filter((batch) => batch.tests.length > 0)
      .map(({ provider }) => laboratoryWord(laboratoryKeyOf(provider.code))),
    requestedWord(localDay(Date.parse(createdAt), timeZone)),
    ...(priority === 'urgent' ? [urgentWord] : []),
    ...(isOnlyElsewhere(batches) ? [elsewhereWord] : []),
  ];
  return {
    ofPractice: unique([
      ...wordsOfName(patient.name),
      ...wordsOf(patient.previousFamilyName ?? ''),
      bornWord(patient.birthDate),
      ...patient.identifiers.flatMap(({ value }) => wordsOf(value)),
      ...wordsOfName(requester.name),
      ...wordsOf(requester.identifier.value),
      requesterWord(codeKeyOf(requester.identifier)),
      ...ofBoth,
    ]),
    ofPatient: unique(ofBoth),
  };
}

const unique = (words: readonly string[]) => [...new Set(words)];

/** Test codes by abbreviation. A key has only letters and digits of the abbreviation: `ue` for U&E. */
type Abbreviations = ReadonlyMap<string, readonly string[]>;

/** Returns the abbreviations of a catalogue. Stored requests do not contain abbreviations. */
export function abbreviationsOf({ orderables }: Pick<Catalogue, 'orderables'>): Abbreviations {
  const abbreviated = [...orderables.values()].flatMap(({ abbreviation = '', code }) => {
    const word = joined(partsOf(abbreviation));
    return word === '' ? [] : [{ word, code }];
  });
  const byWord = Map.groupBy(abbreviated, ({ word }) => word);
  return new Map([...byWord].map(([word, tests]) => [word, tests.map(({ code }) => code)]));
}

type Reading = {
  readonly abbreviations?: Abbreviations;
  /** YYYY-MM-DD at the practice. */
  readonly today: string;
};

/**
 * Reads a user's search. Every typed word must be the beginning of a word of the request, in any order, or
 * the abbreviation of one of its tests. A date is the date of birth or the day of the request. A day without
 * a year is the day of the request. A number may contain spaces. Returns undefined for an empty search. A
 * text without letters or digits finds no request.
 */
export function readRequestSearch(
  text: string,
  { abbreviations = new Map(), today }: Reading,
): RequestSearch | undefined {
  if (text.trim() === '') return undefined;
  const { dates, rest: withoutDates } = takeDates(text.replace(pastedMarks, ''));
  const { days: inWords, rest } = takeDaysInWords(withoutDates, today);
  const days = dates.map(({ days: meant, digits }) => [
    ...meant.flatMap((day) => [[isWord(bornWord(day))], [isWord(requestedWord(day))]]),
    ...(digits === undefined ? [] : [[{ word: digits }]]),
  ]);
  // Also searches for the typed words, because a month such as May may be a name.
  const near = inWords.map(({ day, written }) => [
    [isWord(requestedWord(day))],
    partsOf(written).map(asWord),
  ]);
  const terms = joinNumbers(rest).map((word) => termOf(word, abbreviations));
  return [...days, ...near, ...terms].filter((term) => term.length > 0).slice(0, maxTerms);
}

/**
 * The label before a pasted NHS number, and the symbology identifier that a scanner sends before a barcode
 * (ISO/IEC 15424), as in `]C0NCP-000042`.
 */
const pastedMarks = /(?<!\S)(?:NHS(?:\s*(?:number|no\.?))?[:\s]+(?=\d)|\][a-z][\da-z])/gi;

const asWord = (word: string): SoughtWord => ({ word });

/** Returns a word to search for that matches only whole words. */
export const isWord = (word: string): SoughtWord => ({ word, isWhole: true });

/** Splits a text at spaces, but joins consecutive numbers, such as `943 476 5919`. */
function joinNumbers(text: string): string[] {
  return text
    .trim()
    .replace(/(?<=(?<!\S)\d+)\s+(?=\d+(?!\S))/g, '')
    .split(/\s+/);
}

/**
 * Returns the alternatives of one typed word. `O’Brien` finds `obrien`, or both `o` and `brien`. A word with
 * a digit (`NCP-000042`) is never split, because half of a number means nothing. An abbreviation (`U&E`) also
 * finds its tests, and a year (`1970`) also finds a year of birth.
 */
function termOf(text: string, abbreviations: Abbreviations): SoughtWord[][] {
  const parts = partsOf(text);
  if (parts.length === 0) return [];
  const word = joined(parts);
  const whole = [{ word }];
  if (word === 'urgent') return [whole, [isWord(urgentWord)]];
  if (/^(19|20)\d\d$/.test(word)) return [whole, [{ word: bornWord(word) }]];
  const abbreviated = abbreviations.get(word);
  if (abbreviated !== undefined) return [whole, ...abbreviated.map((code) => [isWord(testWord(code))])];
  const isNumber = parts.some((part) => /\p{N}/u.test(part));
  return parts.length === 1 || isNumber ? [whole] : [whole, parts.map(asWord)];
}
