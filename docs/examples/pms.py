"""The backend calls of a practice management system (PMS), in Python's standard library.

`python3 play.py` plays launches with this module, and `python3 serve.py` is a PMS that runs all the time.
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

BASE_URL = os.environ.get("BASE_URL", "http://localhost:8080")
CLIENT_ID = os.environ.get("CLIENT_ID", "pms-demo")
CLIENT_SECRET = os.environ.get("CLIENT_SECRET", "pms-demo-secret")
TOKEN_URL = f"{BASE_URL}/idp/demo/oauth2/v2.0/token"
SCOPE = "api://clinical-launch/.default"

OWN = "https://fhir.clinical-launch.example"
NHS = "https://fhir.nhs.uk"
HL7_UK = "https://fhir.hl7.org.uk"


class Refused(Exception):
    """The platform refused a request. Give the support desk the `reference`."""

    def __init__(self, status: int, reference: str | None, body: str):
        super().__init__(f"{status}, reference {reference}: {body}")
        self.status = status
        self.reference = reference
        self.errors = json.loads(body).get("errors", []) if body.startswith("{") else []


def send(url: str, body: bytes, headers: dict[str, str]) -> tuple[dict, str | None]:
    """Posts a body and returns the JSON answer and the correlation id."""
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response), response.headers["X-Correlation-Id"]
    except urllib.error.HTTPError as error:
        body = error.read().decode()
        raise Refused(error.code, error.headers["X-Correlation-Id"], body) from None


_token = {"value": "", "expires": 0.0}


def access_token() -> str:
    """Returns the access token. Requests a new token only when the last token has nearly expired."""
    if time.time() > _token["expires"] - 60:
        form = urllib.parse.urlencode(
            {
                "grant_type": "client_credentials",
                "client_id": CLIENT_ID,
                "client_secret": CLIENT_SECRET,
                "scope": SCOPE,
            }
        ).encode()
        answer, _ = send(TOKEN_URL, form, {"Content-Type": "application/x-www-form-urlencoded"})
        _token.update(value=answer["access_token"], expires=time.time() + answer["expires_in"])
    return _token["value"]


def base64url(data: bytes) -> str:
    """Encodes bytes as Base64URL without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def request_launch_url(service_request: dict) -> tuple[str, str | None]:
    """Returns the address that the user's browser opens, and the GUID of the launch.

    After 401, tries once more with a new token. Never repeats another refused request.
    """
    try:
        return request_with_token(service_request)
    except Refused as error:
        if error.status != 401:
            raise
    _token["expires"] = 0.0
    return request_with_token(service_request)


def request_with_token(service_request: dict) -> tuple[str, str | None]:
    """Requests a launch URL once."""
    verifier = base64url(secrets.token_bytes(64))
    challenge = base64url(hashlib.sha256(verifier.encode()).digest())
    answer, guid = send(
        f"{BASE_URL}/AccessApi/RequestLaunchUrl",
        json.dumps(service_request).encode(),
        {
            "Authorization": f"Bearer {access_token()}",
            "Content-Type": "application/json",
            "Code-Challenge": challenge,
        },
    )
    return f"{answer['url']}&codeVerifier={verifier}", guid


def service_request(action: str, request_id: str | None = None) -> dict:
    """Returns the smallest valid payload. `request_id` is your own identifier of the request."""
    return {
        "resourceType": "ServiceRequest",
        "extension": [
            {"url": f"{OWN}/extension/action", "valueString": action},
            {"url": f"{OWN}/extension/author", "valueReference": {"reference": "#author"}},
        ],
        "identifier": [
            {"system": f"{OWN}/Id/originating-system-id", "value": request_id or str(uuid.uuid4())}
        ],
        "subject": {"reference": "#patient"},
        "authoredOn": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "requester": {"reference": "#requester"},
        "performer": [{"reference": "#laboratory"}],
        "contained": [
            {
                "resourceType": "Person",
                "id": "author",
                "name": [{"use": "usual", "family": "Okonkwo", "given": ["Adaeze"]}],
                "identifier": [{"system": f"{OWN}/Id/username", "value": "a.okonkwo"}],
            },
            {
                "resourceType": "Patient",
                "id": "patient",
                "name": [{"use": "usual", "family": "Whitfield", "given": ["Margaret"]}],
                "birthDate": "1958-02-28",
                "gender": "female",
                "address": [{"use": "home", "type": "physical"}],
                "identifier": [{"system": f"{NHS}/Id/nhs-number", "value": "9990000018"}],
            },
            {
                "resourceType": "PractitionerRole",
                "id": "requester",
                "practitioner": {"reference": "#clinician"},
                "organization": {"reference": "#practice"},
            },
            {
                "resourceType": "Practitioner",
                "id": "clinician",
                "name": [{"use": "usual", "family": "Bairstow", "given": ["Thomas"]}],
                "identifier": [{"system": f"{HL7_UK}/Id/professional-code", "value": "G8134567"}],
            },
            {
                "resourceType": "Organization",
                "id": "practice",
                "name": "Harbour Surgery",
                "identifier": [{"system": f"{NHS}/Id/ods-organization-code", "value": "B82017"}],
            },
            {
                "resourceType": "Organization",
                "id": "laboratory",
                "name": "North Coast Pathology",
                "identifier": [{"system": f"{OWN}/Id/performing-org", "value": "RCB00"}],
            },
        ],
    }


def verified_callback(headers, body: bytes, secret: str) -> dict:
    """Returns the content of a callback. Raises ValueError if the signature or the time is wrong.

    `body` contains the received bytes, and `secret` is the value `whsec_...` (Standard Webhooks).
    """
    message_id, sent = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(sent)) > 300:
        raise ValueError("The callback is older than five minutes")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{sent}.".encode() + body
    expected = base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    # While a secret is being replaced, the header contains two signatures.
    for signature in headers["webhook-signature"].split(" "):
        version, _, value = signature.partition(",")
        if version == "v1" and hmac.compare_digest(value, expected):
            return json.loads(body)
    raise ValueError("No signature of the callback is valid")
