// Searches the tests on the page while the server cannot be reached.

/**
 * Returns codes of tests: first the tests that parts of the query name, then the tests whose text contains every
 * word of the query.
 * @param tests the elements of the tests, by their codes
 * @param named the result of `namedTests` for the query
 */
export function findOnPage(tests, query, named) {
  const words = query
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  const matches = [...tests].filter(([, test]) => isMatch(test, words)).map(([code]) => code);
  return { codes: [...new Set([...named.known, ...matches])] };
}

function isMatch(test, words) {
  if (test.dataset.for !== undefined) return false;
  const label = test.querySelector('label').textContent.toLowerCase();
  const parts = test.querySelector('.app-test__parts')?.textContent.toLowerCase() ?? '';
  return words.every((word) => `${label} ${parts}`.includes(word));
}
