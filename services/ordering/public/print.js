// Shows the Print button. Without this script, users print with the browser's own print command.
const button = document.querySelector('[data-print]');
if (button) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
