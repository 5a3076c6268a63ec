// The authorization request is a POST, which a link cannot make: the form goes by itself as soon as it is here.
document.getElementById('authorize').submit();
