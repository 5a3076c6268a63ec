// A plain search in the tests that the page has, for the time without a connection.

/**
 * Returns the codes of the tests whose names contain every word, and as `best` those that the words name
 * exactly.
 */
export function findOnPage(tests, query) {
  const offered = [...tests].map(([code, test]) => describe(code, test));
  const words = wordsOf(query);
  const named = offered.filter(({ names }) => names.includes(query.toLowerCase()));
  const byWord = words.map((word) => offered.find(({ names }) => names.includes(word)));
  const best = named.length > 0 || byWord.includes(undefined) ? named : byWord;
  const isMatch = ({ text, isUsual }) => isUsual && words.every((word) => text.includes(word));
  const matches = [...best, ...offered.filter(isMatch)];
  const codes = [...new Set(matches.map(({ code }) => code))];
  return { codes, best: [...new Set(best.map(({ code }) => code))] };
}

const wordsOf = (query) =>
  query
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);

function describe(code, test) {
  const label = test.querySelector('label').textContent.trim().toLowerCase();
  const parts = test.querySelector('.app-test__parts')?.textContent.toLowerCase() ?? '';
  const [, name, abbreviation] = /^(.*?)(?: \(([^()]*)\))?$/.exec(label);
  return {
    code,
    text: `${label} ${parts}`,
    names: [name, abbreviation],
    isUsual: test.dataset.unusual === undefined,
  };
}
