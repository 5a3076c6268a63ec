// Keeps the page while the server cannot be reached: says so, sends what waits when it is back, and prevents
// the browser from replacing the page by its error page.

const probe = '/oltr/assets/mark.svg';
const probeLimitMs = 8000;
const retryMs = 3000;

const texts = {
  chosen:
    'No connection. What you choose is kept on this page. It is sent when the connection is back: do not close the page.',
  search: 'No connection. The search finds only the names on this page.',
  notSent:
    'No connection. Nothing was sent. What you typed is kept on this page. Try again when the connection is back.',
};

let returning;
let waiting = 0;

/** Sends a request until the server answers. Resolves with its answer, whatever that is. */
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

/** Says what the missing connection means. Resolves when the server answers again. */
export function connectionReturns(what) {
  // What waits to be sent matters more than how the search works.
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
    // A browser script loads no module of the platform, so it has its own timers.
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
 * Sends forms only while the server can be reached; otherwise says that nothing was sent. A form's own
 * listeners come first, and may keep it on the page. Call it before others that listen to the window.
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

/** The part of the page with the button may have been replaced; the new button does the same. */
function currentButton(form, button) {
  if (!button || button.isConnected) return button;
  return [...form.elements].find(({ name, value }) => name === button.name && value === button.value);
}

function say(text) {
  const banner = document.getElementById('connection');
  if (banner && banner.textContent !== text) banner.textContent = text;
}
