// Shows the notice of a locked window as soon as another patient is opened in this browser. The server
// refuses submissions from a locked window anyway.

/**
 * Watches the window of the page. The data attributes of `dialog` contain the address of the check and the
 * token of the page. Only pages with `data-lockable` are locked.
 */
export function watchWindow(dialog) {
  const { address, token } = dialog.dataset;
  const windows = new BroadcastChannel('chosen window');
  const tokenFields = [...document.querySelectorAll('input[name="window"]')];
  const title = document.title;
  let own = token;
  let checks = 0;
  let shown;

  windows.postMessage(own);
  if (dialog.dataset.lockable === undefined) return;
  // A hidden window is checked when it becomes visible.
  windows.addEventListener('message', ({ data }) => data !== own && !document.hidden && check());
  document.addEventListener('visibilitychange', () => document.hidden || check());
  addEventListener('pageshow', ({ persisted }) => persisted && check());
  dialog.addEventListener('cancel', (event) => event.preventDefault());
  dialog.addEventListener('submit', (event) => {
    event.preventDefault();
    chooseHere(event.target);
  });

  async function check() {
    checks += 1;
    const current = checks;
    const response = await fetch(address).catch(() => undefined);
    // Without a connection, the page cannot submit anything, so it needs no notice. A later
    // check replaces this check.
    if (!response || current !== checks) return;
    if (response.status === 409) lock(await response.text());
    else if (response.ok) unlock((await response.json()).token);
  }

  function lock(notice) {
    // An open notice is not replaced by the same notice, so that screen readers do not announce it again.
    if (!dialog.isConnected || (dialog.open && notice === shown)) return;
    shown = notice;
    dialog.innerHTML = notice;
    document.title = `Locked – ${title}`;
    if (!dialog.open) dialog.showModal();
    dialog.querySelector('h1').focus();
  }

  function unlock(chosen) {
    own = chosen;
    for (const field of tokenFields) field.value = chosen;
    document.title = title;
    dialog.close();
  }

  async function chooseHere(form) {
    const body = new URLSearchParams({ launch: new FormData(form).get('launch') });
    const response = await fetch(address, { method: 'POST', body }).catch(() => undefined);
    if (!response?.ok) {
      form.querySelector('[data-failed]').textContent =
        response?.status === 401
          ? 'Your session has ended. Start again from your practice system.'
          : 'This window could not be unlocked. Check your connection and try again.';
      return;
    }
    unlock((await response.json()).token);
    windows.postMessage(own);
  }
}
