"""A partner application in Python's standard library: requests and refreshes tokens, and reads a resource.

`python3 partner.py <launch URL>` handles a launch of a host application. In the demo, `python3 host.py`
prints a launch URL.
"""

import base64
import hashlib
import json
import os
import secrets
import sys
import urllib.error
import urllib.parse
import urllib.request

BASE_URL = os.environ.get("BASE_URL", "http://localhost:8080")
# The values from the operator, and the redirect URI that you registered.
ISSUER = f"{BASE_URL}/idp/demo/desktop/v2.0"
CLIENT_ID = "partner-demo"
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


def claims_of(id_token: str) -> dict:
    """Decodes the claims. First verify the signature, with a JWT library and the keys at jwks_uri."""
    payload = id_token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


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
    claims = claims_of(tokens["id_token"])
    [patient] = json.loads(claims["authorizationDetails"])
    print(f"{claims['firstName']} {claims['familyName']} opened {patient['forenames']} {patient['surname']}")

    # Read a resource, refresh the tokens, and read the resource again.
    print("resource:", get(f"{BASE_URL}/resource/patient", tokens["access_token"])["surname"])
    tokens = post_form(
        endpoints["token_endpoint"],
        grant_type="refresh_token",
        client_id=CLIENT_ID,
        scope=SCOPE,
        refresh_token=tokens["refresh_token"],
    )
    print("refreshed:", get(f"{BASE_URL}/resource/patient", tokens["access_token"])["surname"])


if __name__ == "__main__":
    main(sys.argv[1])
