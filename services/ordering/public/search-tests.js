// The search for tests: filters the catalogue while the user types, and lets the keyboard choose.

import { connectionReturns } from './connection.js';
import { findOnPage } from './find-on-page.js';

/**
 * Filters the catalogue of a form, best match first. `add` takes a promise of the codes to choose, and
 * resolves when the server has answered.
 */
export function searchTests(form, add) {
  const input = document.getElementById('search');
  const tests = new Map([...form.querySelectorAll('[data-test]')].map((test) => [test.dataset.test, test]));
  let latest = 0;
  let timer;

  for (const each of form.querySelectorAll('[data-script]')) each.hidden = false;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(filter, 120);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || isContinuing(event) || event.isComposing) return;
    event.preventDefault();
    addBest();
  });
  form.addEventListener('submit', (event) => {
    const action = event.submitter?.value;
    if (action !== 'search' && action !== 'clear-search') return;
    event.preventDefault();
    if (action === 'search') return filter();
    clear();
  });
  moveByArrows(form, { input, clear });
  continueByKey(form, 'button[value="review"]');

  /** Shows the whole catalogue again, and returns to the search. */
  function clear() {
    input.value = '';
    input.focus();
    filter();
  }

  async function filter() {
    clearTimeout(timer);
    latest += 1;
    const own = latest;
    const query = input.value.trim();
    const found = await find(query);
    if (own === latest && found) show(query, found);
  }

  /** Resolves with the tests that a query finds, or leaves the page if the server cannot answer. */
  async function find(query) {
    const body = new URLSearchParams({ q: query });
    const address = `${form.getAttribute('action')}matches`;
    const response = await fetch(address, { method: 'POST', body }).catch(() => undefined);
    if (response === undefined) {
      connectionReturns('search').then(filter);
      return findOnPage(tests, query);
    }
    if (response.ok && !response.redirected) return response.json();
    form.submit();
    return undefined;
  }

  /** Chooses what the query names. The next query can be typed at once. */
  async function addBest() {
    const query = input.value.trim();
    if (query === '') return;
    input.value = '';
    const found = find(query);
    const isAdded = await add(found.then((offer) => offer?.best ?? []));
    // A query that names no test stays, with what it matches.
    if (!isAdded && input.value === '') input.value = query;
    filter();
  }

  function show(query, { codes, best }) {
    const focused = document.activeElement;
    for (const test of tests.values()) test.hidden = true;
    for (const code of codes) {
      const test = tests.get(code);
      const section = document.getElementById(query === '' ? test.dataset.home : 'group-matches');
      section.querySelector('.app-tests').append(test);
      test.hidden = false;
    }
    // A box that has been moved loses the focus.
    if (form.contains(focused) && focused !== document.activeElement) focused.focus();
    for (const section of form.querySelectorAll('fieldset')) {
      section.hidden = section.querySelector('[data-test]:not([hidden])') === null;
    }
    document.getElementById('clear-search').hidden = query === '';
    for (const each of form.querySelectorAll('[data-browse]')) each.hidden = query !== '';
    document.getElementById('matches').textContent = describe(query, codes.length, best);
  }

  function describe(query, count, best) {
    if (query === '') return `${count} tests`;
    if (count === 0) return `No tests match “${query}”. Check the spelling or try another name.`;
    const usual = [...tests.values()].filter(({ dataset }) => dataset.unusual === undefined).length;
    const names = best.map((code) => tests.get(code).querySelector('label').textContent.trim());
    const advice = names.length === 0 ? '' : ` Press Enter to add ${names.join(' and ')}.`;
    return `${count} of ${usual} tests match “${query}”.${advice}`;
  }
}

/** Ctrl+Enter, or ⌘+Enter on a Mac, presses the button that continues. A key that is held presses it once. */
export function continueByKey(form, button) {
  addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !isContinuing(event) || event.repeat) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector(button));
  });
}

const isContinuing = ({ ctrlKey, metaKey }) => ctrlKey || metaKey;

/** The arrow keys move between the search and the boxes in sight; Enter on a box chooses it and returns. */
function moveByArrows(form, { input, clear }) {
  form.addEventListener('keydown', (event) => {
    const { target } = event;
    const isBox = target.name === 'test';
    if ((!isBox && target !== input) || isContinuing(event)) return;
    if (isBox && event.key === 'Enter') {
      event.preventDefault();
      if (!target.checked) target.click();
      clear();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const boxes = [...form.querySelectorAll('[data-test]:not([hidden]) input[name="test"]:enabled')];
    const places = [input, ...boxes];
    places[places.indexOf(target) + step]?.focus();
  });
}
