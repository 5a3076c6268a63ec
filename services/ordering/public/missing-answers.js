/** Updates the link to the first missing answer while the user types. */
export function countMissingAnswers(form, link) {
  const fields = link.dataset.missing.split(' ');
  const [count, unit] = [link.querySelector('[data-count]'), link.querySelector('[data-unit]')];

  link.addEventListener('click', (event) => {
    event.preventDefault();
    const field = document.getElementById(link.hash.slice(1));
    field.closest('.nhsuk-form-group').scrollIntoView({ block: 'center' });
    field.focus({ preventScroll: true });
  });
  form.addEventListener('input', update);
  update();

  function update() {
    const missing = fields.filter((id) => !isAnswered(form, id));
    link.hidden = missing.length === 0;
    if (link.hidden) return;
    link.hash = missing[0];
    count.textContent = missing.length;
    unit.textContent = missing.length === 1 ? 'answer' : 'answers';
  }
}

/**
 * Maps a field to another field that answers the same question: users may type a reason instead of selecting
 * it.
 */
const alternatives = { 'repeat-reason': 'repeat-reason-text' };

function isAnswered(form, id) {
  const typed = document.getElementById(alternatives[id]);
  if (typed && typed.value.trim() !== '') return true;
  const field = document.getElementById(id);
  if (field.type === 'radio') return form.querySelector(`[name="${field.name}"]:checked`) !== null;
  // A date is also answered by the box “Not known” of its group.
  return field.value.trim() !== '' || Boolean(field.closest('fieldset')?.querySelector(':checked'));
}
