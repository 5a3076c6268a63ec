// Everything works without this script. It avoids reloads: it filters the catalogue while the user types, and
// updates the panel of the chosen tests after each tick. The chosen tests are always those of the server's
// last answer.
import { initAll } from './nhsuk/nhsuk-frontend.js';

initAll();

const form = document.getElementById('choose');
if (form) {
  keepPanelInStep(form);
  filterAsOneTypes(form);
  saveSetWithEnter(form);
  restBarBesidePanel();
}

const notepad = document.querySelector('iframe[name="Notepad"]');
if (notepad) offerDocument(notepad);

const submitOnce = document.querySelector('[data-once]');
if (submitOnce) {
  submitOnce.form.addEventListener('submit', (event) => {
    if (submitOnce.form.dataset.isSent) event.preventDefault();
    submitOnce.form.dataset.isSent = 'yes';
  });
  // A page from the history may be submitted again; the server accepts only one order in any case.
  addEventListener('pageshow', () => delete submitOnce.form.dataset.isSent);
}

function keepPanelInStep(form) {
  // The buttons are named action, which hides the form's own property.
  const address = form.getAttribute('action');
  const panel = document.getElementById('chosen');
  const announcement = document.getElementById('announcement');
  const barCount = document.getElementById('bar-count');
  let sending;
  let changes = 0;
  let warnings = warningsIn(panel);

  form.addEventListener('change', (event) => {
    if (event.target.name === 'test') send('update');
  });
  form.addEventListener('submit', (event) => {
    const action = event.submitter?.value ?? '';
    if (/^(remove|add-set|favourite|unfavourite):/.test(action)) {
      event.preventDefault();
      send(action, event.submitter);
    } else if (sending) {
      // Pending changes arrive first, so that no decision is based on an older state.
      event.preventDefault();
      sending.then(() => form.requestSubmit(buttonFor(action)));
    }
  });

  // The panel may have been replaced, and the pressed button with it; the new button does the same.
  function buttonFor(action, place = form) {
    return [...place.querySelectorAll('button[name="action"]')].find(({ value }) => value === action);
  }

  function send(action, button) {
    changes += 1;
    const change = changes;
    // One after the other: each form sends the changes since the previous answer.
    const previous = sending ?? Promise.resolve();
    const current = previous.then(() => post(action, change, button));
    sending = current;
    current.finally(() => {
      if (sending === current) sending = undefined;
    });
  }

  async function post(action, change, button) {
    const fields = new URLSearchParams(new FormData(form));
    fields.set('action', action);
    const response = await fetch(`${address}chosen`, { method: 'POST', body: fields }).catch(() => undefined);
    // Shows the page of the ended session or the failure; a redirect means that the order was submitted
    // elsewhere.
    if (!response?.ok || response.redirected) return form.submit();
    const text = await response.text();
    const focused = document.activeElement;
    const hadFocus = panel.contains(focused);
    panel.innerHTML = text;
    showChosen(change, action);
    // A user who has reached a button, and is about to press it, finds the new one in its place.
    if (hadFocus) (buttonFor(focused.value, panel) ?? document.getElementById('chosen-title')).focus();
    else button?.focus();
  }

  function showChosen(change, action) {
    const chosen = new Set([...panel.querySelectorAll('input[name="was"]')].map(({ value }) => value));
    const count = `${chosen.size} ${chosen.size === 1 ? 'test' : 'tests'} chosen`;
    barCount.textContent = count;
    announce(action, count);
    if (/^(un)?favourite:/.test(action)) showFavourite(action);
    // Keeps boxes that were ticked since this was sent: their own answer is still to come.
    if (change !== changes) return;
    for (const box of form.querySelectorAll('input[name="test"]')) box.checked = chosen.has(box.value);
    blockCovered();
  }

  /** Announces the text of the panel that was not there before. */
  function announce(action, count) {
    const said = [...panel.querySelectorAll('[data-said]')].map(({ textContent }) => textContent);
    const now = warningsIn(panel);
    const added = now.filter((warning) => !warnings.includes(warning));
    warnings = now;
    const set = action.startsWith('add-set:') ? ['Order set added.'] : [];
    announcement.textContent = [...set, ...said, ...added, count].join(' ');
  }

  /** Disables a test that a chosen panel contains. */
  function blockCovered() {
    const panels = new Map(
      [...panel.querySelectorAll('[data-covered]')].map(({ dataset }) => [dataset.covered, dataset.panel]),
    );
    for (const box of form.querySelectorAll('input[name="test"]')) {
      const name = panels.get(box.value);
      const note = box.closest('[data-test]').querySelector('[data-included]');
      box.disabled = name !== undefined;
      note.hidden = name === undefined;
      note.textContent = name === undefined ? '' : `Included in ${name}`;
    }
  }

  /** The star shows the server's answer; the test moves when the page is opened next. */
  function showFavourite(action) {
    const [verb, code] = action.split(':');
    const star = form.querySelector(`[data-test="${code}"] .app-star`);
    if (!star || panel.querySelector('[data-favourites-full]')) return;
    const isFavourite = verb === 'favourite';
    star.setAttribute('aria-pressed', String(isFavourite));
    star.value = `${isFavourite ? 'unfavourite' : 'favourite'}:${code}`;
  }
}

function warningsIn(panel) {
  return [...panel.querySelectorAll('[data-warning]')].map(({ textContent }) => textContent);
}

/** The Enter key in the name of an order set saves it, instead of pressing the first button of the form. */
function saveSetWithEnter(form) {
  document.getElementById('set-name').addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    form.requestSubmit(document.getElementById('save-set'));
  });
}

/** The bar of small screens repeats the panel, so it is hidden while the panel is visible. */
function restBarBesidePanel() {
  const bar = document.querySelector('.app-bar');
  const observer = new IntersectionObserver(([panel]) => {
    bar.classList.toggle('app-bar--resting', panel.isIntersecting);
  });
  observer.observe(document.getElementById('chosen'));
}

function filterAsOneTypes(form) {
  const address = form.getAttribute('action');
  const input = document.getElementById('search');
  const matches = document.getElementById('matches');
  const clear = document.getElementById('clear-search');
  const browse = document.getElementById('browse');
  const tests = [...form.querySelectorAll('[data-test]')];
  let latest = 0;
  let timer;

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(filter, 120);
  });
  form.addEventListener('submit', (event) => {
    const action = event.submitter?.value;
    if (action !== 'search' && action !== 'clear-search') return;
    event.preventDefault();
    if (action === 'clear-search') {
      input.value = '';
      input.focus();
    }
    filter();
  });

  async function filter() {
    latest += 1;
    const own = latest;
    const query = input.value.trim();
    const body = new URLSearchParams({ q: query });
    const response = await fetch(`${address}matches`, { method: 'POST', body }).catch(() => undefined);
    if (own !== latest) return;
    if (!response?.ok || response.redirected) return form.submit();
    const { codes } = await response.json();
    if (own === latest) showMatches(query, new Set(codes));
  }

  function showMatches(query, codes) {
    for (const test of tests) test.hidden = !codes.has(test.dataset.test);
    for (const group of form.querySelectorAll('fieldset')) {
      group.hidden = group.querySelector('[data-test]:not([hidden])') === null;
    }
    clear.hidden = query === '';
    browse.hidden = query !== '';
    matches.textContent = describe(query, codes.size);
  }

  function describe(query, count) {
    if (query === '') return `${tests.length} tests`;
    if (count === 0) return `No tests match “${query}”. Check the spelling or try another name.`;
    return `${count} of ${tests.length} tests match “${query}”.`;
  }
}

/** Sends the order document to the PMS that opened or frames this page, only at its registered origin. */
function offerDocument(frame) {
  const { launchId, orderGuid, resultOrigin } = frame.dataset;
  if (!resultOrigin) return;
  const offer = () => {
    const output = frame.contentDocument?.querySelector('textarea[name="Output"]');
    if (!output) return;
    frame.removeEventListener('load', offer);
    const message = { type: 'clinical-launch.order-document', launchId, orderGuid, document: output.value };
    if (window.opener) window.opener.postMessage(message, resultOrigin);
    if (window.parent !== window) window.parent.postMessage(message, resultOrigin);
  };
  frame.addEventListener('load', offer);
  offer();
}
