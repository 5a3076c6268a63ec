// Keeps the page open while the server cannot be reached. Shows a message, sends queued changes once the server
// responds, and prevents the browser from replacing the page with its own error page.

const probe = '/oltr/assets/mark.svg';
const probeLimitMs = 8000;
const retryMs = 3000;

const texts = {
  chosen: 'No connection. Do not close this page. Your choices will be sent when the connection is back.',
  search: 'No connection. The search finds only the names on this page.',
  notSent:
    'No connection. Nothing was sent. Your entries are still on this page. Try again when the connection is back.',
};

let returning;
let waiting = 0;

/** Repeats a request until the server responds. Returns the response, even if its status is an error. */
export async function sendWhenConnected(address, options) {
  for (;;) {
    const response = await fetch(address, options).catch(() => undefined);
    if (response) return response;
    waiting += 1;
    await connectionReturns('chosen');
    waiting -= 1;
  }
}

addEventListener('beforeunload', (event) => waiting > 0 && event.preventDefault());

/** Shows the message for a lost connection. Resolves when the server responds again. */
export function connectionReturns(what) {
  // The message about queued changes has priority over the message about a search.
  say(texts[what === 'search' && waiting > 0 ? 'chosen' : what]);
  returning ??= waitForServer();
  return returning;
}

async function waitForServer() {
  while (!(await isReachable())) await pauseOrOnline();
  returning = undefined;
  say('');
}

function pauseOrOnline() {
  return new Promise((resolve) => {
    // Uses `setTimeout` directly, because browser scripts cannot import the platform's timers.
    setTimeout(resolve, retryMs);
    addEventListener('online', resolve, { once: true });
  });
}

function isReachable() {
  const options = { cache: 'no-store', signal: AbortSignal.timeout(probeLimitMs) };
  return fetch(probe, options).then(
    ({ status }) => status < 500,
    () => false,
  );
}

/**
 * Submits forms only while the server can be reached. Otherwise, shows a message that nothing was sent. The
 * listeners of a form run first, and may prevent the submission. Call this before other listeners are added
 * to the window.
 */
export function guardSubmissions() {
  let isPassed = false;
  let isChecking = false;
  addEventListener('submit', async (event) => {
    if (event.defaultPrevented || isPassed) return;
    event.preventDefault();
    const { target: form, submitter } = event;
    delete form.dataset.isSent;
    if (isChecking) return;
    isChecking = true;
    const isConnected = await isReachable();
    isChecking = false;
    if (!isConnected) {
      connectionReturns('notSent');
      return;
    }
    isPassed = true;
    form.requestSubmit(currentButton(form, submitter));
    isPassed = false;
  });
}

/** Returns the same button on the current page, because a response may have replaced the pressed button. */
function currentButton(form, button) {
  if (!button || button.isConnected) return button;
  return [...form.elements].find(({ name, value }) => name === button.name && value === button.value);
}

function say(text) {
  const banner = document.getElementById('connection');
  if (banner && banner.textContent !== text) banner.textContent = text;
}
