"""A partner application in Python's standard library: verifies and refreshes tokens, and reads a resource.

`python3 partner.py <launch URL>` handles a launch of a host application. In the demo, `python3 host.py`
prints a launch URL.
"""

import base64
import hashlib
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

BASE_URL = os.environ.get("BASE_URL", "http://localhost:8080")
# The values from the operator, and the redirect URI that you registered.
ISSUER = f"{BASE_URL}/idp/demo/desktop/v2.0"
CLIENT_ID = os.environ.get("CLIENT_ID", "partner-demo")
REDIRECT_URI = f"{BASE_URL}/demo/partner/callback"
SCOPE = "openid profile email offline_access launch resource.read"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Reports a redirect instead of following it, because this program also plays the browser."""

    def redirect_request(self, *_):
        return None


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def get(url: str, token: str | None = None) -> dict:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as response:
        return json.load(response)


def post_form(url: str, **fields: str) -> dict:
    form = urllib.parse.urlencode(fields).encode()
    with urllib.request.urlopen(url, form, timeout=10) as response:
        return json.load(response)


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def is_signed(token: str, key: dict) -> bool:
    """Verifies RS256 (RFC 8017 section 8.2.2). With a JWT library, you need no such function."""
    message, signature = token.rsplit(".", 1)
    modulus, exponent = (int.from_bytes(decoded(key[name]), "big") for name in "ne")
    size = (modulus.bit_length() + 7) // 8
    sha256 = bytes.fromhex("3031300d060960864801650304020105000420")
    digest = sha256 + hashlib.sha256(message.encode()).digest()
    padded = b"\0\1" + b"\xff" * (size - len(digest) - 3) + b"\0" + digest
    power = pow(int.from_bytes(decoded(signature), "big"), exponent, modulus)
    return power.to_bytes(size, "big") == padded


def claims_of(tokens: dict, jwks_uri: str) -> dict:
    """Returns the claims of the ID token. Fetches the keys each time, so it knows a new key."""
    header, payload, _ = tokens["id_token"].split(".")
    kid = json.loads(decoded(header))["kid"]
    [key] = [key for key in get(jwks_uri)["keys"] if key["kid"] == kid and key["alg"] == "RS256"]
    claims = json.loads(decoded(payload))
    at_hash = base64url(hashlib.sha256(tokens["access_token"].encode()).digest()[:16])
    assert is_signed(tokens["id_token"], key), "the signature of the ID token is wrong"
    assert claims["iss"] == ISSUER and claims["aud"] == CLIENT_ID and claims["exp"] > time.time()
    assert claims["at_hash"] == at_hash, "the access token does not belong to the ID token"
    return claims


def redirect_of(url: str, **fields: str) -> dict[str, str]:
    """Posts the authorization request as the browser does, and returns the query of the redirect."""
    form = urllib.parse.urlencode(fields).encode()
    try:
        urllib.request.build_opener(NoRedirect).open(url, form, timeout=10)
    except urllib.error.HTTPError as answer:
        if answer.code == 302:
            location = urllib.parse.urlsplit(answer.headers["Location"])
            return dict(urllib.parse.parse_qsl(location.query))
        raise AssertionError(f"{answer.code}: {answer.read().decode()}") from None
    raise AssertionError("The authorization endpoint did not redirect")


def main(launch_url: str) -> None:
    # The launch handler. Accept only this issuer: otherwise an attacker could receive your launch identifier.
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(launch_url).query))
    assert query["iss"] == ISSUER, "not the registered issuer"
    endpoints = get(f"{ISSUER}/.well-known/openid-configuration")

    # The authorization request, which the user's browser sends.
    verifier = base64url(secrets.token_bytes(64))
    state = base64url(secrets.token_bytes(16))
    answer = redirect_of(
        endpoints["authorization_endpoint"],
        client_id=CLIENT_ID,
        response_type="code",
        redirect_uri=REDIRECT_URI,
        response_mode="query",
        scope=SCOPE,
        code_challenge=base64url(hashlib.sha256(verifier.encode()).digest()),
        code_challenge_method="S256",
        state=state,
        launch=query["launch"],
    )

    # The auth handler.
    assert answer["state"] == state and answer["iss"] == ISSUER
    tokens = post_form(
        endpoints["token_endpoint"],
        grant_type="authorization_code",
        client_id=CLIENT_ID,
        scope=SCOPE,
        code=answer["code"],
        redirect_uri=REDIRECT_URI,
        code_verifier=verifier,
    )
    claims = claims_of(tokens, endpoints["jwks_uri"])
    [patient] = json.loads(claims["authorizationDetails"])
    print(f"{claims['firstName']} {claims['familyName']} opened {patient['forenames']} {patient['surname']}")

    def refresh() -> None:
        nonlocal tokens
        tokens = post_form(
            endpoints["token_endpoint"],
            grant_type="refresh_token",
            client_id=CLIENT_ID,
            scope=SCOPE,
            refresh_token=tokens["refresh_token"],
        )

    def read() -> str:
        url = f"{BASE_URL}/resource/patient"
        try:
            return get(url, tokens["access_token"])["surname"]
        except urllib.error.HTTPError as refusal:
            if refusal.code in (429, 503):
                time.sleep(int(refusal.headers["Retry-After"]))
            elif refusal.code == 401:
                refresh()
            else:
                raise
        return get(url, tokens["access_token"])["surname"]

    # Read a resource, and again after each refresh.
    print("resource:", read())
    for _ in range(2):
        refresh()
        print("refreshed:", read())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: python3 partner.py <launch URL>")
    main(sys.argv[1])
