// The authorization request is a POST, which a link cannot send: the form submits itself as soon as it has
// loaded.
document.getElementById('authorize').submit();
