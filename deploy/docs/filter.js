// Filters the rows of the page by words, section and package. Without it the page is the whole table. The
// filter is in the address, behind the #, so that it can be sent to somebody.
const form = document.querySelector('form');
const shown = document.querySelector('[role=status]');
const sections = [...document.querySelectorAll('tbody')].map((body) => ({
  body,
  place: body.dataset.place,
  rows: [...body.querySelectorAll('tr[data-package]')].map((row) => ({
    row,
    owner: row.dataset.package,
    text: `${body.dataset.place} ${row.dataset.package} ${row.textContent}`.toLowerCase(),
  })),
}));
const all = sections.flatMap(({ rows }) => rows).length;

function filter() {
  const { words, section, owner } = Object.fromEntries(new FormData(form));
  const wanted = words.toLowerCase().split(/\s+/);
  let count = 0;
  for (const { body, place, rows } of sections) {
    const isPlace =
      section === '' || place === section || (section.endsWith('/ ') && place.startsWith(section));
    let found = 0;
    for (const { row, owner: own, text } of rows) {
      row.hidden = !(
        isPlace &&
        (owner === '' || own === owner) &&
        wanted.every((word) => text.includes(word))
      );
      if (!row.hidden) found += 1;
    }
    // An introduction without rows is shown while nothing is filtered.
    body.hidden = rows.length === 0 ? Boolean(words || section || owner) : found === 0;
    count += found;
  }
  shown.textContent = count === all ? `${all} rows` : `${count} of ${all} rows`;
  const chosen = Object.entries({ words, section, owner }).filter(([, value]) => value !== '');
  history.replaceState(null, '', `#${new URLSearchParams(chosen)}`);
}

for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
  const field = form.elements.namedItem(name);
  if (field) field.value = value;
}
form.hidden = false;
form.addEventListener('input', filter);
form.addEventListener('submit', (event) => event.preventDefault());
// The fields are empty once the event has ended.
form.addEventListener('reset', () => setTimeout(filter));
filter();
