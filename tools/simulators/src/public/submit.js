// The authorization request is a POST, which a link cannot send. So the form submits itself as soon as the
// page has loaded.
document.getElementById('authorize').submit();
