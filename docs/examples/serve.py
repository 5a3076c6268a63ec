"""A practice management system (PMS) that runs all the time, with pms.py.

GET /launch orders tests for the patient, and GET /amend changes the first request: both redirect the browser.
POST /callbacks receives the order documents. The PMS passes a conformance run (docs/guides/twin.md).
"""

import http.server
import os
import threading
import urllib.error
import uuid

import pms

CALLBACK_SECRET = os.environ.get("CALLBACK_SECRET", "")

# A real PMS stores these in its database.
request_ids: list[str] = []
callback_ids: set[str] = set()
documents: dict[str, dict] = {}
lock = threading.Lock()


def launch_url(action: str) -> str:
    """Returns the address of a launch with a new request, or with the first request to change it."""
    with lock:
        request_id = request_ids[0] if action == "UpdateTest" else str(uuid.uuid4())
        url, guid = pms.request_launch_url(pms.service_request(action, request_id))
        if action == "OrderTest":
            request_ids.append(request_id)
    print(f"{action}: launch {guid}", flush=True)
    return url


def file_document(callback_id: str, data: dict) -> None:
    """Stores a document once, and never replaces a newer version."""
    with lock:
        if callback_id in callback_ids:
            return
        callback_ids.add(callback_id)
        stored = documents.get(data["orderGuid"])
        if stored is None or stored["orderVersion"] < data["orderVersion"]:
            documents[data["orderGuid"]] = data


class Pms(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        action = {"/launch": "OrderTest", "/amend": "UpdateTest"}.get(self.path)
        if action is None or (action == "UpdateTest" and not request_ids):
            return self.answer(404, "Not found")
        try:
            url = launch_url(action)
        except pms.Refused as error:
            # The user must launch again. The PMS then requests a new launch URL.
            # An OrderTest then has a new identifier.
            self.answer(502, f"The launch was refused. Give support this reference: {error.reference}")
        except urllib.error.URLError:
            self.answer(502, "The launch failed. Try again later.")
        else:
            self.answer(303, "", Location=url)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            callback = pms.verified_callback(self.headers, body, CALLBACK_SECRET)
        except (ValueError, TypeError):
            return self.answer(400, "The callback is not valid")
        file_document(self.headers["webhook-id"], callback["data"])
        self.answer(204, "")

    def answer(self, status: int, text: str, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    address = ("127.0.0.1", int(os.environ.get("PORT", "9000")))
    server = http.server.ThreadingHTTPServer(address, Pms)
    print(f"ready http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
