// Opens the print dialog for each paper: forms and labels are in different printers. Without this script the
// browser's own print command prints both.
const papers = document.querySelector('.app-papers');
if (papers) {
  // Reloading the result prints nothing again.
  history.replaceState(null, '', location.pathname);
  const waiting = [...papers.querySelectorAll('[data-paper]')];
  addEventListener('load', () => printNext(waiting));
}

/** A browser ignores a second dialog while the first is open. */
function printNext([paper, ...others]) {
  if (paper === undefined) return delete papers.dataset.only;
  papers.dataset.only = '';
  paper.dataset.now = '';
  const goOn = () => {
    delete paper.dataset.now;
    // In a turn of its own: the dialog has closed only after this event.
    setTimeout(() => printNext(others));
  };
  addEventListener('afterprint', goOn, { once: true });
  openDialog();
}

/** Chromium ignores a dialog that a script opens within two seconds of the last one: it is opened again. */
function openDialog(tries = 3) {
  let isOpen = false;
  addEventListener('beforeprint', () => (isOpen = true), { once: true });
  setTimeout(() => isOpen || tries === 1 || openDialog(tries - 1), 2200);
  print();
}
