// Receives the order document from the result page of the launched system, and files it in the record. The
// same document also arrives at the backend, by callback, so the page polls the backend and redraws only the
// changes.
const { oltrOrigin } = document.querySelector('[data-oltr-origin]').dataset;
const lookEveryMs = 2000;

async function look() {
  const response = await fetch(location.href).catch(() => undefined);
  if (!response?.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const shown of document.querySelectorAll('[data-live]')) {
    const now = page.getElementById(shown.id);
    if (shown.innerHTML !== now.innerHTML) shown.replaceChildren(...now.childNodes);
  }
}

addEventListener('message', async ({ origin, data }) => {
  if (origin !== oltrOrigin || data?.type !== 'clinical-launch.order-document') return;
  const { launchId, orderGuid, document: xml } = data;
  const response = await fetch('/demo/pms/documents', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ launchId, orderGuid, document: xml }),
  });
  if (response.ok) await look();
});

// Repeats the poll with `setTimeout`, because a browser script loads no module of the platform.
const lookLater = () => setTimeout(() => look().finally(lookLater), lookEveryMs);
lookLater();
