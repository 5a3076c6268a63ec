// Shows a checkbox that ticks every request of the page. Without this script, users tick each request.
const rows = document.querySelector('[data-rows]');
const all = rows?.querySelector('[data-all]');
if (all) {
  all.hidden = false;
  const boxes = [...rows.querySelectorAll('input[name="request"]')];
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = all.checked;
  });
  rows.addEventListener('change', () => {
    const ticked = boxes.filter(({ checked }) => checked).length;
    all.checked = ticked === boxes.length;
    all.indeterminate = ticked > 0 && !all.checked;
  });
}
