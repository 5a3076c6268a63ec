// The authorization request is a POST, which a link cannot send. So the form submits itself as soon as the
// page has loaded. A second click on the button would use the launch again, and the browser would show its refusal.
const form = document.getElementById('authorize');
form.querySelector('button').disabled = true;
form.submit();
