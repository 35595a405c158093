#!/usr/bin/env python3
"""Receives webhooks of the incident triage service and verifies their signatures.

WEBHOOK_SECRET=whsec_... PORT=8080 python3 receive.py
"""
import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
TOLERANCE_SECONDS = 300
LARGEST_BODY = 1024 * 1024

# Ids of handled events. A service with several processes keeps them in its database for two days.
seen = set()


def is_genuine(event_id, timestamp, signatures, body):
    if not timestamp.isascii() or not timestamp.isdigit():
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest())
    # After a change of the secret there are two signatures for 24 hours. One match is enough.
    candidates = [part[3:].encode() for part in signatures.split(" ") if part.startswith("v1,")]
    return any([hmac.compare_digest(expected, candidate) for candidate in candidates])


def handle(event):
    print(event["type"], event["id"], flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > LARGEST_BODY:
            return self.answer(413)
        # The signature covers the received bytes: JSON that is serialized again may differ.
        body = self.rfile.read(length)
        event_id = self.headers.get("webhook-id", "")
        timestamp = self.headers.get("webhook-timestamp", "")
        signatures = self.headers.get("webhook-signature", "")
        if not is_genuine(event_id, timestamp, signatures, body):
            return self.answer(401)
        if event_id not in seen:
            handle(json.loads(body))
            seen.add(event_id)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
print(f"Listening on http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
