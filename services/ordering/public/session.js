// Warns before the session of the page ends, lets the user extend it with a button, and replaces the page at
// the end. Every HTTP request of the launch, from any window, extends the session, but never beyond its
// absolute end. Only the question whether the session has ended does not extend it.

const warnsBeforeMs = 2 * 60_000;

/** The parts of the page outside `main` that are removed when the session ends. */
const partsOfLaunch =
  '.app-patient, .app-context, .app-other-patients, .app-opened-for, .app-sign-out, .app-lock, nav[aria-label="Back"]';

/** Watches the session whose end is in the data attributes of the dialog. */
export function watchSession(dialog) {
  const { launch, address, idleSeconds, lastSeconds } = dialog.dataset;
  const idleMs = Number(idleSeconds) * 1000;
  // Uses the clock, because it advances while the computer sleeps, and a timer does not.
  let lastAt = lastSeconds === undefined ? Number.POSITIVE_INFINITY : Date.now() + Number(lastSeconds) * 1000;
  const windows = new BroadcastChannel(`launch ${launch}`);
  let endsAt;
  let dismissedFor;
  let isAsking = false;

  // Removes the text with the time at which the session ends, because later requests extend the session.
  document.querySelector('[data-session-until]')?.remove();
  prolong();
  windows.postMessage('extended');
  windows.addEventListener('message', prolong);
  new PerformanceObserver((list) => {
    if (!list.getEntries().some(isAnswered)) return;
    prolong();
    windows.postMessage('extended');
  }).observe({ type: 'resource' });
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault();
    answer();
  });
  dialog.addEventListener('click', ({ target }) => target.closest('button') && answer());
  // Checks every second, because a single timer would be late after the computer slept.
  const timer = setInterval(check, 1000);
  addEventListener('pageshow', check);

  function prolong() {
    endsAt = Math.min(Date.now() + idleMs, lastAt);
    if (endsAt - Date.now() > warnsBeforeMs) dialog.close();
  }

  function check() {
    const leftMs = endsAt - Date.now();
    if (leftMs <= 0) return ask();
    if (leftMs > warnsBeforeMs) return;
    const minutes = Math.ceil(leftMs / 60_000);
    dialog.querySelector('[data-left]').textContent = minutes === 1 ? '1 minute' : `${minutes} minutes`;
    if (dialog.open || dismissedFor === endsAt) return;
    for (const each of dialog.querySelectorAll('[data-extendable]')) each.hidden = endsAt === lastAt;
    for (const each of dialog.querySelectorAll('[data-final]')) each.hidden = endsAt !== lastAt;
    say('');
    dialog.showModal();
  }

  async function answer() {
    if (endsAt === lastAt) {
      dismissedFor = endsAt;
      return dialog.close();
    }
    const body = new URLSearchParams({ launch });
    const response = await fetch(address, { method: 'POST', body }).catch(() => undefined);
    if (response?.status === 401) return end();
    if (!response?.ok) return say('Your session could not be extended. Check your connection and try again.');
    prolong();
    windows.postMessage('extended');
  }

  /** Asks the server before the page ends, because somebody may have corrected the computer's clock. */
  async function ask() {
    if (isAsking) return;
    isAsking = true;
    const response = await fetch(`${address}-state`).catch(() => undefined);
    isAsking = false;
    if (!response?.ok) return end();
    // The server does not say how long the session lasts, so the page warns the user and asks again.
    if (endsAt === lastAt) lastAt = Number.POSITIVE_INFINITY;
    endsAt = Date.now() + warnsBeforeMs;
    check();
  }

  function say(text) {
    dialog.querySelector('[data-failed]').textContent = text;
  }

  /** Replaces the page, so that nobody can read the patient's data on an unattended screen. */
  function end() {
    clearInterval(timer);
    dialog.remove();
    for (const each of document.querySelectorAll(partsOfLaunch)) each.remove();
    const { content } = document.getElementById('session-ended');
    document.querySelector('main').replaceChildren(content.cloneNode(true));
    document.title = document.querySelector('h1').textContent;
    document.querySelector('h1').focus();
  }

  /** Returns whether an entry is a script's request that succeeded, and therefore extended the session. */
  function isAnswered({ initiatorType, name, responseStatus }) {
    const isOfLaunch =
      initiatorType === 'fetch' &&
      new URL(name).pathname.startsWith(`/oltr/${launch}/`) &&
      !name.endsWith('-state');
    return isOfLaunch && responseStatus >= 200 && responseStatus < 400;
  }
}
