// Every page works without this script. The script avoids reloads: it filters the catalogue while the user
// types, and updates the panel of the chosen tests after each tick. The panel always contains the chosen tests
// of the server's last response.
import { guardSubmissions, sendWhenConnected } from './connection.js';
import { countMissingAnswers } from './missing-answers.js';
import { initAll } from './nhsuk/nhsuk-frontend.js';
import { watchOtherPatients } from './other-patients.js';
import { saveWhileTyping } from './save-review.js';
import { continueByKey, searchTests } from './search-tests.js';
import { watchSession } from './session.js';
import { keepShortcutsInStep } from './shortcuts.js';
import { watchWindow } from './window-lock.js';

initAll();
guardSubmissions();

const sessionWarning = document.getElementById('session-warning');
if (sessionWarning) watchSession(sessionWarning);

const windowLock = document.getElementById('window-lock');
if (windowLock) watchWindow(windowLock);

const patientBanner = document.querySelector('.app-patient');
if (patientBanner) watchOtherPatients(document.getElementById('other-patients'), patientBanner);

const form = document.getElementById('choose');
if (form) {
  searchTests(form, keepPanelInStep(form));
  saveSetWithEnter(form);
  restBarBesidePanel();
}

const saveStatus = document.getElementById('saved');
if (saveStatus) saveWhileTyping(saveStatus.closest('form'), saveStatus);

const missingLink = document.getElementById('missing');
if (missingLink) countMissingAnswers(missingLink.closest('form'), missingLink);

const notepad = document.querySelector('iframe[name="Notepad"]');
if (notepad) offerDocument(notepad);

const closing = document.getElementById('close-window');
if (closing && window.opener && window.parent === window) {
  closing.hidden = false;
  closing.addEventListener('click', () => window.close());
}

const submitOnce = document.querySelector('[data-once]');
if (submitOnce) {
  continueByKey(submitOnce.form, '[data-once]');
  submitOnce.form.addEventListener('submit', (event) => {
    if (submitOnce.form.dataset.isSent) event.preventDefault();
    submitOnce.form.dataset.isSent = 'yes';
  });
  // Allows another submission when the browser history shows the page again. The server stores only one order
  // of a launch.
  addEventListener('pageshow', () => delete submitOnce.form.dataset.isSent);
}

/**
 * Sends each change of the chosen tests, and shows the panel of the response. Returns an async function that
 * chooses tests by their codes, and resolves with a function that undoes the choice.
 */
function keepPanelInStep(form) {
  // Reads the attribute, because buttons named `action` hide the property `form.action`.
  const address = form.getAttribute('action');
  const panel = document.getElementById('chosen');
  const announcement = document.getElementById('announcement');
  const barCount = document.getElementById('bar-count');
  const shortcuts = keepShortcutsInStep(['shortcuts', 'most'].map((id) => document.getElementById(id)));
  let sending;
  let changes = 0;
  let warnings = warningsIn(panel);

  form.addEventListener('change', (event) => {
    if (event.target.name === 'test') send('update');
  });
  form.addEventListener('submit', (event) => {
    const action = event.submitter?.value ?? '';
    if (/^(add|remove|use|add-set|again|favourite|unfavourite):|^clear$/.test(action)) {
      event.preventDefault();
      send(action, event.submitter);
    } else if (sending) {
      // Sends pending changes first, so that the server does not decide on an older state.
      event.preventDefault();
      sending.then((isDone) => isDone && form.requestSubmit(buttonFor(action)));
    }
  });
  return (codes) => queue(() => choose(codes));

  /**
   * Finds a button by its value, because a response may have replaced the panel that contained the pressed
   * button.
   */
  function buttonFor(action, place = form) {
    return [...place.querySelectorAll('button[name="action"]')].find(({ value }) => value === action);
  }

  function send(action, button) {
    changes += 1;
    const change = changes;
    return queue(() => post(action, change, button));
  }

  /** Sends forms one after the other. Each form contains the changes since the previous response. */
  function queue(change) {
    const current = (sending ?? Promise.resolve()).then(change);
    sending = current;
    current.finally(() => {
      if (sending === current) sending = undefined;
    });
    return current;
  }

  /**
   * Ticks the boxes of tests and sends the form. Resolves with a function that restores the earlier ticks.
   */
  async function choose(codes) {
    const before = chosenIn(panel);
    const boxes = codes.map((code) => document.getElementById(`test-${code}`));
    for (const box of boxes) if (!box.disabled) box.checked = true;
    changes += 1;
    await post('update', changes, undefined, boxes.map(describeChoice));
    return () => queue(() => restore(before));
  }

  /** Ticks only the boxes that were ticked before a choice, and sends the form. */
  function restore(chosen) {
    for (const box of form.querySelectorAll('input[name="test"]')) {
      // Enables each box that `blockCovered` disabled, because browsers do not send disabled boxes.
      box.disabled = false;
      box.checked = chosen.has(box.value);
    }
    changes += 1;
    return post('update', changes, undefined, ['Undone.']);
  }

  function describeChoice(box) {
    const included = box.closest('li').querySelector('[data-included]');
    return `${box.labels[0].textContent.trim()}: ${included?.textContent.trim() ?? 'chosen'}.`;
  }

  async function post(action, change, button, news) {
    const fields = new URLSearchParams(new FormData(form));
    fields.set('action', action);
    const response = await sendWhenConnected(`${address}chosen`, { method: 'POST', body: fields });
    // After an error or a redirect, submits the form to show the server's page. A redirect means that another
    // window submitted the order.
    if (!response.ok || response.redirected) return form.submit();
    const text = await response.text();
    const focused = document.activeElement;
    const hadFocus = panel.contains(focused);
    panel.innerHTML = text;
    shortcuts.renew(panel);
    showChosen(change, action, news);
    // If the panel had the focus, moves the focus to the same button in the new panel.
    if (hadFocus) (buttonFor(focused.value, panel) ?? document.getElementById('chosen-title')).focus();
    else button?.focus();
    return true;
  }

  function showChosen(change, action, news) {
    const chosen = chosenIn(panel);
    const count = `${chosen.size} ${chosen.size === 1 ? 'test' : 'tests'} chosen`;
    barCount.textContent = count;
    announce(action, count, news);
    if (/^(un)?favourite:/.test(action)) showFavourite(action);
    // If the user has ticked boxes since this form was sent, only the next response updates the boxes.
    if (change !== changes) return;
    shortcuts.press(chosen);
    for (const box of form.querySelectorAll('input[name="test"]')) box.checked = chosen.has(box.value);
    blockCovered();
  }

  /** Announces the new messages of the panel to screen readers. */
  function announce(action, count, news) {
    const said = [...panel.querySelectorAll('[data-said]')].map(({ textContent }) => textContent);
    const now = warningsIn(panel);
    const added = now.filter((warning) => !warnings.includes(warning));
    warnings = now;
    const set = action.startsWith('add-set:') ? ['Order set added.'] : (news ?? []);
    announcement.textContent = [...set, ...said, ...added, count].join(' ');
  }

  /** Disables the boxes of tests that are part of another chosen test, such as a profile. */
  function blockCovered() {
    const panels = new Map(
      [...panel.querySelectorAll('[data-covered]')].map(({ dataset }) => [dataset.covered, dataset.panel]),
    );
    for (const box of form.querySelectorAll('input[name="test"]')) {
      const name = panels.get(box.value);
      const test = box.closest('li');
      box.disabled = name !== undefined;
      test.querySelector('[data-included]')?.remove();
      if (name === undefined) continue;
      const note = document.createElement('b');
      note.dataset.included = '';
      note.textContent = `Included in ${name}`;
      test.querySelector('p').append(note);
    }
  }

  /** Updates the star of a test after the server's response. */
  function showFavourite(action) {
    const [verb, code] = action.split(':');
    const box = document.getElementById(`test-${code}`);
    if (!box || panel.querySelector('[data-favourites-full]')) return;
    const star = box.closest('li').querySelector('button');
    const [next, does] = verb === 'favourite' ? ['unfavourite', 'Remove'] : ['favourite', 'Add'];
    star.value = `${next}:${code}`;
    star.ariaLabel = star.ariaLabel.replace(/^\w+/, does);
  }
}

function chosenIn(panel) {
  return new Set([...panel.querySelectorAll('input[name="was"]')].map(({ value }) => value));
}

function warningsIn(panel) {
  return [...panel.querySelectorAll('[data-warning]')].map(({ textContent }) => textContent);
}

/**
 * If the user presses Enter in the field for the name of an order set, saves the set. By default, the Enter
 * key presses the form's first button.
 */
function saveSetWithEnter(form) {
  document.getElementById('set-name')?.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    form.requestSubmit(document.getElementById('save-set'));
  });
}

/** Hides the bar while the panel's button is visible, because the bar contains the same button. */
function restBarBesidePanel() {
  const bar = document.querySelector('.app-bar');
  const panel = document.getElementById('chosen');
  const observer = new IntersectionObserver(
    (entries) => bar.classList.toggle('app-bar--resting', entries.at(-1).isIntersecting),
    { threshold: 1 },
  );
  const observe = () => {
    observer.disconnect();
    observer.observe(panel.querySelector('button[value="review"]'));
  };
  // Observes the new button, because each change replaces the content of the panel.
  new MutationObserver(observe).observe(panel, { childList: true });
  observe();
}

/**
 * If an origin is registered, sends the order document to the window of that origin that opened or frames
 * this page.
 */
function offerDocument(frame) {
  const { launchId, orderGuid, resultOrigin } = frame.dataset;
  if (!resultOrigin) return;
  const offer = () => {
    const output = frame.contentDocument?.querySelector('textarea[name="Output"]');
    if (!output) return;
    frame.removeEventListener('load', offer);
    const message = { type: 'clinical-launch.order-document', launchId, orderGuid, document: output.value };
    const receivers = [window.opener, window.parent === window ? null : window.parent].filter(Boolean);
    for (const receiver of receivers) receiver.postMessage(message, resultOrigin);
    if (receivers.length > 0) {
      const said = 'The request has been sent to your practice system. You can close this page.';
      document.getElementById('handover').textContent = said;
    }
  };
  frame.addEventListener('load', offer);
  offer();
}
