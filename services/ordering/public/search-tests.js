// The search for tests: filters the catalogue while the user types, and chooses them by keyboard.

import { connectionReturns } from './connection.js';
import { findOnPage } from './find-on-page.js';
import { describeSearch, inWords, namedTests, readNames } from './named-tests.js';

/**
 * Filters the catalogue of a form, best match first. `add` chooses tests by their codes. After the server's
 * response, it resolves with a function that undoes the choice.
 */
export function searchTests(form, add) {
  const input = document.getElementById('search');
  const tests = new Map([...form.querySelectorAll('[data-test]')].map((test) => [test.dataset.test, test]));
  const names = readNames(document.getElementById('names').content.textContent);
  const added = showAdded(form, input);
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
    if (!event.repeat) enter();
  });
  form.addEventListener('submit', (event) => {
    const action = event.submitter?.value;
    if (action !== 'search' && action !== 'clear-search') return;
    event.preventDefault();
    if (action === 'search') return filter();
    clear();
  });
  moveByKeys(form, { input, clear });
  continueByKey(form, 'button[value="review"]');

  /** Shows the whole catalogue again, and focuses the search. */
  function clear() {
    input.value = '';
    input.focus();
    filter();
  }

  /**
   * Resolves with whether the tests that match the search are shown: false if the user has continued typing.
   */
  async function filter() {
    clearTimeout(timer);
    latest += 1;
    const own = latest;
    const query = input.value.trim();
    const found = await find(query);
    if (own !== latest || !found) return false;
    show(query, found);
    return true;
  }

  /** Resolves with the tests that a query finds, or submits the form if the server reports an error. */
  async function find(query) {
    const body = new URLSearchParams({ q: query });
    const address = `${form.getAttribute('action')}matches`;
    const response = await fetch(address, { method: 'POST', body }).catch(() => undefined);
    if (response === undefined) {
      connectionReturns('search').then(filter);
      return findOnPage(tests, query, namedTests(query, names));
    }
    if (response.ok && !response.redirected) return response.json();
    form.submit();
    return undefined;
  }

  /**
   * Adds the tests that the search names, so that the next search can be typed at once. If it names none,
   * moves the focus to the first match, where a second Enter adds that test.
   */
  async function enter() {
    const { codes } = namedTests(input.value, names);
    if (codes.length > 0) {
      input.value = '';
      const takeBack = await add(codes);
      added.show(
        codes.map((code) => tests.get(code).dataset.name),
        takeBack,
      );
      filter();
      return;
    }
    const typed = input.value;
    if (typed.trim() === '') return;
    // The next input replaces the search that named no test.
    input.select();
    const isShown = await filter();
    if (!isShown || document.activeElement !== input || input.value !== typed) return;
    const box = firstChoice();
    if (!box) return;
    box.focus();
    const name = box.labels[0].textContent.trim();
    document.getElementById('announcement').textContent = `${name}. Press Enter to add it.`;
  }

  /** Returns the box of the first match that can be chosen. */
  function firstChoice() {
    return boxesIn(form).find((box) => !box.checked);
  }

  function show(query, { codes, notes = [] }) {
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
    document.getElementById('notes').replaceChildren(...notes.map(noteOf));
    const { summary, advice } = describe(query, codes.length, notes.length > 0);
    document.getElementById('matches').textContent = `${summary} ${advice}`.trim();
  }

  function describe(query, count, isExplained) {
    return describeSearch({
      query,
      count,
      isExplained,
      total: [...tests.values()].filter(({ dataset }) => dataset.for === undefined).length,
      named: namedTests(query, names),
      describe(code) {
        const { name, for: isFor } = tests.get(code).dataset;
        return { name, isFor };
      },
    });
  }
}

/** Creates the note that explains why a match cannot be chosen. */
function noteOf({ name, text }) {
  const note = document.createElement('p');
  const strong = document.createElement('strong');
  strong.textContent = name;
  note.append(strong, ` ${text}`);
  return note;
}

/**
 * Shows the tests that Enter added, until another test is chosen or removed. Its button undoes the addition,
 * as does Ctrl+Z in the empty search.
 */
function showAdded(form, input) {
  const place = document.getElementById('added');
  const [text, button] = place.children;
  let takeBack;
  button.addEventListener('click', undo);
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'z' || !isContinuing(event) || input.value !== '' || !takeBack) return;
    event.preventDefault();
    undo();
  });
  form.addEventListener('change', ({ target }) => target.name === 'test' && hide());
  form.addEventListener('submit', ({ submitter }) => /:|^clear$/.test(submitter?.value) && hide());
  return { show };

  function show(names, taking) {
    takeBack = taking;
    text.textContent = `Added ${inWords.format(names)}.`;
    place.hidden = false;
  }

  function hide() {
    takeBack = undefined;
    place.hidden = true;
  }

  function undo() {
    takeBack();
    hide();
    input.focus();
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

/** Returns the visible boxes that can be chosen: a narrow page folds the groups of the catalogue. */
function boxesIn(form) {
  const boxes = form.querySelectorAll('[data-test]:not([hidden]) input[name="test"]:enabled');
  return [...boxes].filter((box) => box.checkVisibility());
}

/**
 * The arrow keys move between the search and the visible boxes. On a box, Enter chooses it and returns to the
 * search, and a letter begins the next search: the focus may have moved there while the user typed.
 */
function moveByKeys(form, { input, clear }) {
  form.addEventListener('keydown', (event) => {
    const { target } = event;
    const isBox = target.name === 'test';
    if ((!isBox && target !== input) || isContinuing(event) || event.altKey) return;
    if (isBox && event.key === 'Enter') {
      event.preventDefault();
      if (event.repeat) return;
      if (!target.checked) target.click();
      clear();
      return;
    }
    if (isBox && input.value !== '' && /^[^\s]$/u.test(event.key)) {
      input.select();
      input.focus();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const places = [input, ...boxesIn(form)];
    places[places.indexOf(target) + step]?.focus();
  });
}
