// Opens one print dialog for the form and one for the labels, because they use different printers. Without this
// script, the browser's own print command prints both.
const papers = document.querySelector('.app-papers');
if (papers) {
  // Removes `?print` from the URL, so that a reload does not print again.
  history.replaceState(null, '', location.pathname);
  const waiting = [...papers.querySelectorAll('[data-paper]')];
  addEventListener('load', () => printNext(waiting));
}

/** Prints papers one after the other, because a browser ignores a dialog while another dialog is open. */
function printNext([paper, ...others]) {
  if (paper === undefined) return delete papers.dataset.only;
  papers.dataset.only = '';
  paper.dataset.now = '';
  const goOn = () => {
    delete paper.dataset.now;
    // Continues in a new task, because the dialog closes only after this event.
    setTimeout(() => printNext(others));
  };
  addEventListener('afterprint', goOn, { once: true });
  openDialog();
}

/** Opens the dialog, and retries: Chromium ignores a dialog within two seconds of the previous dialog. */
function openDialog(tries = 3) {
  let isOpen = false;
  addEventListener('beforeprint', () => (isOpen = true), { once: true });
  setTimeout(() => isOpen || tries === 1 || openDialog(tries - 1), 2200);
  print();
}
