"""Plays launches at BASE_URL with pms.py: an order, its change, and the refusals 400, 409 and 410.

If CALLBACK_SECRET and CALLBACK_PORT are set, also receives the signed callback of each order document.
"""

import http.server
import os
import queue
import threading
import urllib.error
import urllib.request

import pms
from browser import Browser

received: queue.Queue = queue.Queue()


class Receiver(http.server.BaseHTTPRequestHandler):
    """Answers callbacks at the callback address of the PMS."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            callback = pms.verified_callback(self.headers, body, os.environ["CALLBACK_SECRET"])
        except (ValueError, TypeError):
            self.send_response(400)
        else:
            # A real PMS first stores the document, once for each webhook-id.
            received.put(callback["data"])
            self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def receive_callbacks() -> bool:
    if "CALLBACK_SECRET" not in os.environ:
        return False
    server = http.server.HTTPServer(("127.0.0.1", int(os.environ["CALLBACK_PORT"])), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return True


def show(step: str, result: object) -> None:
    print(f"{step}: {result}", flush=True)


def refused(call) -> pms.Refused:
    try:
        call()
    except pms.Refused as error:
        return error
    raise AssertionError("The request was accepted")


def main() -> None:
    has_callback = receive_callbacks()

    # OrderTest: the user chooses two tests and submits.
    order = pms.service_request("OrderTest")
    url, guid = pms.request_launch_url(order)
    user = Browser()
    document = user.submit_order(url, ["HFBC", "BUE"])
    show("OrderTest", f"{document.count('<testOrder>')} tests, launch {guid}")
    if has_callback:
        data = received.get(timeout=30)
        assert data["launchId"] == guid and data["document"] == document
        show("callback", f"order {data['orderGuid']}, version {data['orderVersion']}")

    # UpdateTest repeats the identifier of the order.
    request_id = order["identifier"][0]["value"]
    url, guid = pms.request_launch_url(pms.service_request("UpdateTest", request_id))
    document = Browser().submit_order(url, ["HFBC", "BUE", "BLFT"])
    show("UpdateTest", f"{document.count('<testOrder>')} tests, launch {guid}")
    if has_callback:
        show("callback", f"version {received.get(timeout=30)['orderVersion']}")

    # 400: the answer lists every fault.
    faulty = pms.service_request("OrderTest")
    del faulty["contained"][1]["birthDate"]
    faulty["contained"][1]["gender"] = "F"
    error = refused(lambda: pms.request_launch_url(faulty))
    show(error.status, "; ".join(f"{fault['path']} {fault['message']}" for fault in error.errors))

    # 409: the identifier was used by an earlier OrderTest.
    error = refused(lambda: pms.request_launch_url(pms.service_request("OrderTest", request_id)))
    show(error.status, f"{request_id} was used before")

    # 410: a launch URL opens once.
    url, guid = pms.request_launch_url(pms.service_request("OrderTest"))
    with urllib.request.urlopen(url):
        pass
    try:
        urllib.request.urlopen(url)
    except urllib.error.HTTPError as error:
        show(error.code, "the launch URL was opened before")


if __name__ == "__main__":
    main()
