// Opens the print dialog for each paper: forms and labels use different printers. Without this script, the
// browser's own print command prints both.
const papers = document.querySelector('.app-papers');
if (papers) {
  // Stops a reload of the result from printing again.
  history.replaceState(null, '', location.pathname);
  const waiting = [...papers.querySelectorAll('[data-paper]')];
  addEventListener('load', () => printNext(waiting));
}

/** Waits for each dialog to close, because a browser ignores a second dialog. */
function printNext([paper, ...others]) {
  if (paper === undefined) return delete papers.dataset.only;
  papers.dataset.only = '';
  paper.dataset.now = '';
  const goOn = () => {
    delete paper.dataset.now;
    // Runs in a new task, because the dialog closes only after this event.
    setTimeout(() => printNext(others));
  };
  addEventListener('afterprint', goOn, { once: true });
  openDialog();
}

/** Retries, because Chromium ignores a dialog that a script opens within two seconds of the last. */
function openDialog(tries = 3) {
  let isOpen = false;
  addEventListener('beforeprint', () => (isOpen = true), { once: true });
  setTimeout(() => isOpen || tries === 1 || openDialog(tries - 1), 2200);
  print();
}
