// Without this script, the browser's own print command does the same.
const button = document.querySelector('[data-print]');
if (button) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
