// Finds the tests that a search names. The server and the page share this module, so that the Enter key adds
// the same tests with and without a connection.

/**
 * The tests that a search names.
 * @typedef {object} Named
 * @property {string[]} codes the tests that Enter adds; empty unless every part of the search names one test
 * @property {string[]} known the tests that some part of the search names
 * @property {string[]} unknown the parts that name no test or several tests; empty if no part names a test
 */

/**
 * The codes of tests by the keys of their names (`keysOfName`). An empty string stands for a test or
 * service that Enter does not add by this name.
 * @typedef {ReadonlyMap<string, readonly string[]>} NameIndex
 */

/** Formats a list: `FBC, HbA1c and TSH`. */
export const inWords = new Intl.ListFormat('en-GB');

/** The maximum number of words in a search that names several tests. */
const maxWords = 16;

/**
 * Returns the words of a text for comparison: `Hæmoglobin A1c`, `U & E` become `haemoglobin`, `a1c`, `ue`.
 * @param {string} text
 */
export function wordsOf(text) {
  // Initials with a sign between them are one word: U&E, C&S, T3/T4, "u and e".
  const joined = withoutAccents(text.toLowerCase())
    .replace(/['’.-]/g, '')
    .replace(/(?<=(?<![a-z0-9])[a-z0-9]{1,2})\s*(?:[&+/]|\sand\s)\s*(?=[a-z0-9]{1,2}(?![a-z0-9]))/g, '');
  return splitWords(joined);
}

/**
 * Returns a word in American spelling: `hemoglobin`, `sulfate`, `luteinizing`, `tumor`.
 * @param {string} word
 */
export function american(word) {
  return word
    .replace(/ae|oe/g, 'e')
    .replaceAll('sulph', 'sulf')
    .replace(/is(?=ed$|ing$)/, 'iz')
    .replace(/ou(?=rs?$)/, 'o');
}

/**
 * Returns the keys of a complete name, in American spelling and without spaces. The first key has the words
 * as they are, and the second key has them in the singular. Words of fewer than four letters have no
 * singular. A capital S at the end is no plural: DHEAS is not the plural of DHEA.
 * @param {string} name
 */
export function keysOfName(name) {
  const words = splitWords(withoutAccents(name)).map(spellingsOf);
  return [
    ...new Set([words.map(({ spelt }) => spelt).join(''), words.map(({ singular }) => singular).join('')]),
  ];
}

/**
 * Finds the tests that a search names (`Named`). If the search can be split into names in several ways, uses
 * the way with the fewest unknown words, and then with the fewest parts.
 * @param {string} query
 * @param {NameIndex} names
 * @returns {Named}
 */
export function namedTests(query, names) {
  const words = splitWords(withoutAccents(query.toLowerCase()));
  const parts = words.length > maxWords ? [] : partsOf(words, names);
  const known = [...new Set(parts.filter(isOneTest).flatMap(({ codes }) => codes))];
  const unknown = parts.filter((part) => !isOneTest(part)).map(({ text }) => text);
  if (known.length === 0) return { codes: [], known, unknown: [] };
  return { codes: unknown.length === 0 ? known : [], known, unknown };
}

/**
 * Returns whether a search finds an order set: every word of the search begins a word of the set's name.
 * @param {string} query
 * @param {string} name
 */
export function findsSet(query, name) {
  const [sought, words] = [query, name].map((text) => wordsOf(text).map(american));
  return sought.length > 0 && sought.every((one) => words.some((word) => word.startsWith(one)));
}

/**
 * Describes the matches of a search, and the effect of the Enter key.
 * @param {object} search
 * @param {string} search.query
 * @param {number} search.count how many tests match
 * @param {number} [search.sets] how many order sets match
 * @param {number} search.total how many tests are usual for the patient
 * @param {Named} search.named
 * @param {boolean} [search.isExplained] whether notes explain why no test can be chosen
 * @param {(code: string) => { name: string, isFor?: string | undefined }} search.describe returns the name of
 * a test; for a test that does not apply to the patient, also the patients to whom it applies
 */
export function describeSearch({ query, count, sets = 0, total, named, isExplained = false, describe }) {
  if (query === '') return { summary: `${count} tests`, advice: '' };
  const found = sets === 1 ? '1 order set matches' : `${sets} order sets match`;
  if (count === 0 && sets > 0) {
    return {
      summary: `${found} “${query}”.`,
      advice: `Press Enter to go to ${sets === 1 ? 'it' : 'the first'}.`,
    };
  }
  if (count === 0 && isExplained) return { summary: `No tests to choose for “${query}”.`, advice: '' };
  if (count === 0) {
    return { summary: `No tests match “${query}”. Check the spelling or try another name.`, advice: '' };
  }
  const { codes, unknown } = named;
  const tests = codes.map(describe);
  const others = tests.filter(({ isFor }) => isFor !== undefined);
  const place = count === 1 ? 'the match' : `the first of ${count} matches`;
  const advice = [
    codes.length === 0
      ? `Press Enter to go to ${place}.`
      : `Press Enter to add ${inWords.format(tests.map(({ name }) => name))}.`,
    ...others.map(({ name, isFor }) => `${name}: for ${isFor}.`),
  ];
  const verb = count === 1 ? 'matches' : 'match';
  const summary = [
    `${count} of ${total} tests ${verb} “${query}”.`,
    ...(unknown.length === 0 ? [] : [`No single test is called “${unknown.join('” or “')}”.`]),
    ...(sets === 0 ? [] : [`${found} too.`]),
  ];
  return { summary: summary.join(' '), advice: advice.join(' ') };
}

/**
 * Splits the label of a test, `Full blood count (FBC)`, into its name and its abbreviation, if any.
 * @param {string} label
 */
export function splitLabel(label) {
  const [, name = label, abbreviation] = /^(.*) \(([^()]*)\)$/.exec(label) ?? [];
  return { name, abbreviation };
}

/**
 * Returns the keys of a test's code, name and abbreviation.
 * @param {string} code
 * @param {string} label
 */
function keysOnPage(code, label) {
  const { name, abbreviation = name } = splitLabel(label);
  return [code, name, abbreviation].flatMap(keysOfName);
}

/**
 * Reads the index that `writeNames` wrote.
 * @param {string} text
 * @param {(code: string) => string} labelOf
 * @returns {NameIndex}
 */
export function readNames(text, labelOf) {
  const entries = text.split('\n').flatMap((line) => {
    const [head = '', ...written] = line.split(' ');
    const codes = head.replace('*', '');
    const onPage = codes === head ? [] : keysOnPage(codes, labelOf(codes));
    const keys = written.flatMap((key) =>
      key.endsWith('~') ? [key.slice(0, -1), key.replace('~', 's')] : key,
    );
    return [...onPage, ...keys].map((key) => /** @type {const} */ ([key, codes.split(',')]));
  });
  return new Map(entries);
}

/**
 * Writes an index for the page, with a line for each test: `HFBC* cbc hb platelet~`, `VVZV,VVZP vzv`. A key with
 * `~` stands for the key with and without a final `s`, and `*` for the keys of the code and the label, which the
 * page contains.
 * @param {NameIndex} names
 * @param {(code: string) => string} labelOf returns an empty text if there is no such test
 */
export function writeNames(names, labelOf) {
  const lines = Map.groupBy(names, ([, codes]) => codes.join(','));
  return [...lines]
    .map(([codes, entries]) => {
      const keys = new Set(entries.map(([key]) => key));
      const onPage = keysOnPage(codes, labelOf(codes));
      const isOnPage = onPage.every((key) => keys.has(key));
      for (const key of isOnPage ? onPage : []) keys.delete(key);
      const written = [...keys]
        .filter((key) => !key.endsWith('s') || !keys.has(key.slice(0, -1)))
        .map((key) => (keys.has(`${key}s`) ? `${key}~` : key));
      return [isOnPage ? `${codes}*` : codes, ...written].join(' ');
    })
    .join('\n');
}

/**
 * A part of a search, and the codes of the tests whose complete name is this part.
 * @typedef {{ readonly text: string, readonly codes: readonly string[] }} Part
 */

/** @param {Part} part */
const isOneTest = ({ codes }) => codes.length === 1 && codes[0] !== '';

/**
 * Splits words into names of tests, with as few unknown words as possible, and then as few parts as possible.
 * @param {string[]} words
 * @param {NameIndex} names
 * @returns {Part[]}
 */
function partsOf(words, names) {
  const spellings = words.map(spellingsOf);
  // For each position, the best way to split the words before it, and its cost.
  /** @type {{ cost: number, parts: Part[] }[]} */
  const readings = [{ cost: 0, parts: [] }];
  for (let end = 1; end <= words.length; end += 1) {
    let best = withUnknown(readings[end - 1], words[end - 1]);
    let [spelt, singular] = ['', ''];
    for (let start = end - 1; start >= 0; start -= 1) {
      spelt = spellings[start].spelt + spelt;
      singular = spellings[start].singular + singular;
      const found = [...(names.get(spelt) ?? []), ...(names.get(singular) ?? [])];
      const { cost, parts } = readings[start];
      if (found.length === 0 || cost + 1 > best.cost) continue;
      const part = { text: words.slice(start, end).join(' '), codes: [...new Set(found)] };
      best = { cost: cost + 1, parts: [...parts, part] };
    }
    readings.push(best);
  }
  return readings[words.length].parts;
}

/**
 * Adds an unknown word to the parts. Consecutive unknown words are one part: `knee scan`.
 * @param {{ cost: number, parts: Part[] }} reading
 * @param {string} word
 */
function withUnknown({ cost, parts }, word) {
  const last = parts.at(-1);
  const isContinued = last !== undefined && last.codes.length === 0;
  const part = { text: isContinued ? `${last.text} ${word}` : word, codes: [] };
  return { cost: cost + maxWords, parts: [...(isContinued ? parts.slice(0, -1) : parts), part] };
}

/** @param {string} text */
function withoutAccents(text) {
  return text
    .replace(/[æÆ]/g, 'ae')
    .replace(/[œŒ]/g, 'oe')
    .normalize('NFD')
    .replace(/[\u0300-\u036f'’.]/g, '');
}

/** @param {string} text */
function splitWords(text) {
  return text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '' && word.toLowerCase() !== 'and');
}

/**
 * Returns the American spelling of a word in lower case (`spelt`), and the same without a final "s"
 * (`singular`). Words of fewer than four letters are only converted to lower case.
 * @param {string} word
 */
function spellingsOf(word) {
  if (word.length < 4) return { spelt: word.toLowerCase(), singular: word.toLowerCase() };
  const spelt = american(word.toLowerCase());
  return { spelt, singular: word.endsWith('s') ? spelt.slice(0, -1) : spelt };
}
