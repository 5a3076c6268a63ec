// The search for tests: filters the catalogue while the user types, and lets the user choose tests by keyboard.

import { connectionReturns } from './connection.js';
import { findOnPage } from './find-on-page.js';
import { describeSearch, findsSet, inWords, namedTests, readNames, splitLabel } from './named-tests.js';

/**
 * Filters the catalogue of a form, best match first. `add` chooses tests by their codes. After the server's
 * response, `add` resolves with a function that undoes the choice.
 */
export function searchTests(form, add) {
  const input = document.getElementById('search');
  const boxes = [...form.querySelectorAll('input[name="test"]')];
  const tests = new Map(boxes.map((box) => [box.value, box.closest('li')]));
  // Only a match of a search that the server made states the group to which it returns.
  for (const test of tests.values()) test.dataset.home ??= test.closest('fieldset').id;
  const names = readNames(document.getElementById('names').content.textContent, (code) =>
    labelOf(tests.get(code)),
  );
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

  /** Shows the whole catalogue again, and moves the focus to the search box. */
  function clear() {
    input.value = '';
    input.focus();
    filter();
  }

  /**
   * Shows the tests that match the search. Returns false if the user continued typing before the response, or
   * if the response was an error.
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

  /**
   * Returns the tests that a query finds. Without a connection, searches the page. If the server answers with
   * an error or a redirect, submits the form instead.
   */
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
   * Adds the tests that the search names, and empties the search box for the next search. If the search names
   * no test, moves the focus to the first match. There, a second Enter adds the test.
   */
  async function enter() {
    const { codes } = namedTests(input.value, names);
    if (codes.length > 0) {
      input.value = '';
      const takeBack = await add(codes);
      added.show(
        codes.map((code) => nameOf(tests.get(code))),
        takeBack,
      );
      filter();
      return;
    }
    const typed = input.value;
    if (typed.trim() === '') return;
    // Selects the text, so that the user's next input replaces it.
    input.select();
    const isShown = await filter();
    if (!isShown || document.activeElement !== input || input.value !== typed) return;
    const box = firstChoice();
    const place = box ?? setsFound(typed)[0]?.querySelector('button');
    if (!place) return;
    place.focus();
    const name = (box?.labels[0] ?? place.closest('[data-set]')).textContent.trim();
    document.getElementById('announcement').textContent = `${name}. Press Enter to add it.`;
  }

  /** Returns the checkbox of the first match that is not chosen yet. */
  function firstChoice() {
    return boxesIn(form).find((box) => !box.checked);
  }

  function setsFound(query) {
    return [...form.querySelectorAll('[data-set]')].filter(({ dataset }) => findsSet(query, dataset.set));
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
    // Restores the focus, because a checkbox loses it when its test moves to another section.
    if (form.contains(focused) && focused !== document.activeElement) focused.focus();
    for (const section of form.querySelectorAll('fieldset')) {
      section.hidden = section.querySelector('.app-tests > :not([hidden])') === null;
    }
    const sets = setsFound(query);
    for (const set of form.querySelectorAll('[data-set]')) set.hidden = query !== '' && !sets.includes(set);
    document.getElementById('sets').hidden = query !== '' && sets.length === 0;
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
      sets: setsFound(query).length,
      isExplained,
      total: [...tests.values()].filter(({ dataset }) => dataset.for === undefined).length,
      named: namedTests(query, names),
      describe(code) {
        const test = tests.get(code);
        return { name: nameOf(test), isFor: test.dataset.for };
      },
    });
  }
}

const labelOf = (test) => test.querySelector('label').textContent;

/** Returns the short name of a test: its abbreviation, or else its name. */
function nameOf(test) {
  const { name, abbreviation = name } = splitLabel(labelOf(test));
  return test.dataset.name ?? abbreviation;
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
 * Shows the tests that Enter added, until another test is chosen or removed. The Undo button, or Ctrl+Z in the
 * empty search box, undoes the addition.
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

/** Makes Ctrl+Enter, or ⌘+Enter on a Mac, press the button of the next step, once while the key is held. */
export function continueByKey(form, button) {
  addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !isContinuing(event) || event.repeat) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector(button));
  });
}

const isContinuing = ({ ctrlKey, metaKey }) => ctrlKey || metaKey;

/** Returns the checkboxes that are enabled and visible. A narrow page hides the tests of closed groups. */
function boxesIn(form) {
  const boxes = form.querySelectorAll('.app-tests > :not([hidden]) input:enabled');
  return [...boxes].filter((box) => box.checkVisibility());
}

/**
 * Makes the arrow keys move between the search box and the visible checkboxes. On a checkbox, Enter chooses the
 * test and returns to the search box. A letter starts the next search, because the focus may have moved to the
 * checkbox while the user typed.
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
