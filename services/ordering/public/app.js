// Everything works without this script. It spares reloads: the catalogue is filtered as one types, the panel of the
// chosen tests follows each tick. What is chosen is always what the server answered.
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
  // A page that comes back from the history may be submitted again; the server takes one order in any case.
  addEventListener('pageshow', () => delete submitOnce.form.dataset.isSent);
}

function keepPanelInStep(form) {
  // The buttons are named action, so the form's own property is not to be had.
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
      // What is on its way arrives first, so that nothing is decided on an older state.
      event.preventDefault();
      sending.then(() => form.requestSubmit(buttonFor(action)));
    }
  });

  // The button that was pressed may be gone with the panel that it stood in; its successor does the same.
  function buttonFor(action) {
    return [...form.querySelectorAll('button[name="action"]')].find(({ value }) => value === action);
  }

  function send(action, button) {
    changes += 1;
    const change = changes;
    // One after the other: each form tells what changed since the answer before it.
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
    // The ended session or the failure gets its page; a redirect means that the order was submitted elsewhere.
    if (!response?.ok || response.redirected) return form.submit();
    const hadFocus = panel.contains(document.activeElement);
    panel.innerHTML = await response.text();
    showChosen(change, action);
    if (hadFocus) document.getElementById('chosen-title').focus();
    else button?.focus();
  }

  function showChosen(change, action) {
    const chosen = new Set([...panel.querySelectorAll('input[name="was"]')].map(({ value }) => value));
    const count = `${chosen.size} ${chosen.size === 1 ? 'test' : 'tests'} chosen`;
    barCount.textContent = count;
    announce(action, count);
    if (/^(un)?favourite:/.test(action)) showFavourite(action);
    // Boxes that were ticked since this was sent are not undone: their own answer is still to come.
    if (change !== changes) return;
    for (const box of form.querySelectorAll('input[name="test"]')) box.checked = chosen.has(box.value);
    blockCovered();
  }

  /** Says what the panel says that it did not say before. */
  function announce(action, count) {
    const said = [...panel.querySelectorAll('[data-said]')].map(({ textContent }) => textContent);
    const now = warningsIn(panel);
    const added = now.filter((warning) => !warnings.includes(warning));
    warnings = now;
    const set = action.startsWith('add-set:') ? ['Order set added.'] : [];
    announcement.textContent = [...set, ...said, ...added, count].join(' ');
  }

  /** A test that a chosen panel contains cannot be chosen beside it. */
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

  /** The star shows what the server did; the test moves when the page is opened next. */
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

/** The Enter key in the name of an order set saves it, and does not press the first button of the form. */
function saveSetWithEnter(form) {
  document.getElementById('set-name').addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    form.requestSubmit(document.getElementById('save-set'));
  });
}

/** The bar of small screens repeats the panel, so it rests while the panel is to be seen. */
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

/** Offers the order document to the PMS that opened or frames this page, at its registered origin alone. */
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
