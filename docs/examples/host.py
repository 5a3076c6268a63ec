"""A host application in Python's standard library: `python3 host.py` prints a launch URL for a browser."""

import json
import os
import urllib.parse
import urllib.request

BASE_URL = os.environ.get("BASE_URL", "http://localhost:8080")

LAUNCH = {
    "client_id": "partner-demo",
    "user": {
        "userERN": "ern:demo-ehr:user:7f3c1a52",
        "email": "adaeze.okonkwo@harbour-surgery.example",
        "title": "Dr",
        "firstName": "Adaeze",
        "familyName": "Okonkwo",
    },
    "organisation": {
        "orgERN": "ern:demo-ehr:organisation:0b61",
        "orgName": "Harbour Surgery",
        "cdb": "28144",
        "ods": "B82017",
    },
    "authorizations": ["agmt-agmt.read", "clinical-cr.read"],
    "patient": {
        "title": "Mr",
        "forenames": "Cathal",
        "surname": "Ó Súilleabháin",
        "gender": "Male",
        "dob": "03-Nov-1987",
        "patient-identifiers": [{"identifierType": "NHS Number", "identifierValue": "9434765870"}],
        "address-details": [{"addressLine1": "2 Cliff Street, Whitby"}],
        "contact-details": [],
    },
}


def post(url: str, body: bytes, headers: dict[str, str]) -> dict:
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def main() -> None:
    form = urllib.parse.urlencode(
        {
            "grant_type": "client_credentials",
            "client_id": "host-demo",
            "client_secret": "host-demo-secret",
            "scope": "api://clinical-launch/.default",
        }
    ).encode()
    token = post(f"{BASE_URL}/idp/demo/oauth2/v2.0/token", form, {})["access_token"]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    answer = post(f"{BASE_URL}/idp/demo/desktop/launches", json.dumps(LAUNCH).encode(), headers)
    print(answer["launchUrl"])


if __name__ == "__main__":
    main()
