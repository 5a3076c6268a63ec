// Changes the label stock without a reload, because the service records each load of the page as a print.
const form = document.querySelector('[data-label-stock]');
if (form) {
  const { stock, start } = form.elements;
  const labels = document.querySelector('.app-labels');
  form.querySelector('button').hidden = true;
  form.addEventListener('change', () => {
    labels.className = `app-labels app-labels--${stock.value}`;
    form.querySelector('[data-start]').hidden = stock.value !== 'a4-24';
    for (const blank of labels.querySelectorAll('.app-label--blank')) blank.remove();
    labels.prepend(...Array.from({ length: Number(start.value) - 1 }, blankLabel));
    const [prefix, secure] = location.protocol === 'https:' ? ['__Secure-', '; Secure'] : ['', ''];
    document.cookie = `${prefix}label-stock=${stock.value}; Path=/oltr/; Max-Age=31536000; SameSite=Lax${secure}`;
  });
}

function blankLabel() {
  const blank = document.createElement('li');
  blank.className = 'app-label app-label--blank';
  blank.setAttribute('aria-hidden', 'true');
  return blank;
}
