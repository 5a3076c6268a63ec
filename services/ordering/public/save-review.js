// Stores the fields of the review while the user types, so that a closed window or a step back loses nothing.

const pauseMs = 800;
const retryMs = 5000;

/** Saves a form. The data attributes of `status` contain the page and the edits that it shows. */
export function saveWhileTyping(form, status) {
  const address = `${form.getAttribute('action')}/draft`;
  const { page, edits } = status.dataset;
  // Text that was typed before this script loaded is not saved yet.
  let saved = [...form.elements].some(isChanged) ? undefined : fields();
  let sequence = 0;
  let timer;
  let isOver = false;

  form.addEventListener('input', () => saveAfter(pauseMs));
  document.addEventListener('visibilitychange', () => document.hidden && save());
  addEventListener('pagehide', () => save());
  addEventListener('online', () => save());
  // A submitted form contains every field. Another listener may have prevented the submission.
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
    // Each change restarts the delay.
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

  /** Announces a text only when it changes. */
  function say(text, isFailed = false) {
    status.toggleAttribute('data-failed', isFailed);
    if (status.textContent !== text) status.textContent = text;
  }
}

const isChanged = ({ type, value, defaultValue = value, checked, defaultChecked }) =>
  type === 'radio' || type === 'checkbox' ? checked !== defaultChecked : value !== defaultValue;

const reasons = {
  // The status of a redirect that is not followed: the order was submitted in another window.
  0: 'Not saved. This request has already been submitted.',
  401: 'Not saved. Your session has ended.',
  409: 'Not saved. This request was changed in another window. Reload the page to see the changes.',
};
