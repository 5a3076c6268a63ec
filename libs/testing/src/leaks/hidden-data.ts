import { readdirSync, readFileSync } from 'node:fs';

type Resource = { readonly resourceType: string; readonly id: string };

const samples = new URL('../../samples/', import.meta.url);
/** Whose values are single characters, repeated. */
const ofOneCharacter = '10-at-every-limit.json';
const staff = ['Person', 'Practitioner'];

/** Other forms of these values, other patients of tests, and secrets that are too short to be random. */
const others =
  `943 476 5919,943-476-5919,28/02/1958,28 February 1958,28-Feb-1958,19580228,14 Quayside,YO22 4EB,
Pickering,Łukaszewicz,pms-demo-secret,whsec_`.split(/,\s*/);

const resources = readdirSync(samples)
  .filter((name) => name !== ofOneCharacter)
  .flatMap((name) => JSON.parse(readFileSync(new URL(name, samples), 'utf8')).contained as Resource[]);

/** Returns the values of a resource that are too long for chance. */
function wordsOf({ resourceType: _type, id: _id, ...members }: Resource): string[] {
  return textsOf(members).filter((text) => /^.{6}/.test(text) && isPersonal(text));
}

const isPersonal = (text: string) =>
  /^\p{Lu}[\p{Ll}.]{5}|[\d@]|[^ -~]/u.test(text) && !text.startsWith('http');

const textsOf = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(textsOf);

/**
 * What a text is searched as. In `bytes`, such as Protocol Buffers, the lengths and types beside a value may
 * look like letters and digits.
 */
export type SearchedForm = 'text' | 'bytes';

type Patterns = Readonly<Record<SearchedForm, RegExp>>;

/**
 * A value is whole if no letter or digit is beside it: eight digits of a time in nanoseconds are no date of
 * birth. An escape of a URL or of JSON ends with a letter or a digit, and so may the length of a text in AMQP.
 */
const wholeFrom = String.raw`(?:(?<![\p{L}\p{N}])|(?<=%[\da-f]{2}|\\[bfnrt]|\\u[\da-f]{4}|\0.))`;
const wholeUntil = String.raw`(?![\p{L}\p{N}])`;

/** Returns the patterns that find words in small and capital letters, and as they are in a URL. */
function patternsOf(words: readonly string[]): Patterns {
  const patterns = [...new Set(words)].map((word) => {
    const written = word
      .replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
      .replaceAll(' ', '(?: |\\+|%20)')
      .replaceAll('@', '(?:@|%40)');
    // The prefix of a secret is no whole value.
    return { written, whole: wholeFrom + written + (word.endsWith('_') ? '' : wholeUntil) };
  });
  return {
    text: new RegExp(patterns.map(({ whole }) => whole).join('|'), 'giu'),
    bytes: new RegExp(patterns.map(({ written }) => written).join('|'), 'giu'),
  };
}

/** Finds names, numbers, dates and addresses of the patients of tests, and the secrets of the demo. */
export const patientData = patternsOf([
  ...resources.filter(({ resourceType }) => resourceType === 'Patient').flatMap(wordsOf),
  ...others,
]);

/** Finds names and numbers of the users of tests. */
export const staffData = patternsOf(
  resources.filter(({ resourceType }) => staff.includes(resourceType)).flatMap(wordsOf),
);
