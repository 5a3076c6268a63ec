// Saves the fields of the review while the user types, so that no text is lost if the user closes
// the window or goes back.

const pauseMs = 800;
const retryMs = 5000;

/** Saves a form. The data attributes of `status` contain the GUID of the page and the `edits` of its draft. */
export function saveWhileTyping(form, status) {
  const address = `${form.getAttribute('action')}/draft`;
  const { page, edits } = status.dataset;
  // If the user typed before this script loaded, the form is not saved yet.
  let saved = [...form.elements].some(isChanged) ? undefined : fields();
  let sequence = 0;
  let timer;
  let isOver = false;

  form.addEventListener('input', () => saveAfter(pauseMs));
  document.addEventListener('visibilitychange', () => document.hidden && save());
  addEventListener('pagehide', () => save());
  addEventListener('online', () => save());
  // A submission saves every field, unless another listener has prevented the submission.
  addEventListener('submit', (event) => {
    if (event.target !== form || event.defaultPrevented) return;
    clearTimeout(timer);
    saved = fields();
  });

  if (saved === undefined) saveAfter(pauseMs);

  function fields() {
    return new URLSearchParams(new FormData(form)).toString();
  }

  function saveAfter(ms) {
    clearTimeout(timer);
    // Saves after a pause: each change restarts the timer.
    timer = setTimeout(save, ms);
  }

  async function save() {
    clearTimeout(timer);
    const current = fields();
    if (isOver || current === saved) return;
    sequence += 1;
    const own = sequence;
    const body = new URLSearchParams(current);
    for (const [name, value] of Object.entries({ page, edits, sequence })) body.set(name, value);
    const options = { method: 'POST', body, keepalive: true, redirect: 'manual' };
    const response = await fetch(address, options).catch(() => undefined);
    if (response?.ok) {
      if (own === sequence) saved = current;
      return say('Saved');
    }
    if (!response || response.status >= 500 || response.status === 429) {
      say('Not saved. Trying again.', true);
      return saveAfter(retryMs);
    }
    isOver = true;
    say(reasons[response.status] ?? 'Not saved.', true);
  }

  /** Shows a text. An unchanged text is not written, so that screen readers do not announce it again. */
  function say(text, isFailed = false) {
    status.toggleAttribute('data-failed', isFailed);
    if (status.textContent !== text) status.textContent = text;
  }
}

const isChanged = ({ type, value, defaultValue = value, checked, defaultChecked }) =>
  type === 'radio' || type === 'checkbox' ? checked !== defaultChecked : value !== defaultValue;

const reasons = {
  // An unfollowed redirect has the status 0: the order was submitted in another window.
  0: 'Not saved. This request has already been submitted.',
  401: 'Not saved. Your session has ended.',
  409: 'Not saved. This request was changed in another window. Reload the page to see the changes.',
};
