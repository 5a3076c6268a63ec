// Takes the order document that the result page of the launched system offers, and files it in the record.
const returned = document.getElementById('returned');

addEventListener('message', async ({ origin, data }) => {
  if (origin !== returned.dataset.oltrOrigin || data?.type !== 'clinical-launch.order-document') return;
  const { launchId, orderGuid, document: xml } = data;
  const response = await fetch('/demo/pms/documents', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ launchId, orderGuid, document: xml }),
  });
  if (response.ok) location.reload();
});
