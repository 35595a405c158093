#!/usr/bin/env python3
"""A relay for tools that cannot sign: stores their requests in a folder, signs them, and sends them until accepted.

WEBHOOK_URL=https://triage.example.com/api/webhooks/siem WEBHOOK_SECRET=... RELAY_FOLDER=/var/lib/relay python3 relay.py

Every program that reaches its port can send events, so it listens on the loopback interface, for a tool on the same
machine. The tool posts to http://127.0.0.1:8088/ and gets 202 when its event is on the disk.
"""
import hashlib
import hmac
import http.client
import http.server
import os
import threading
import time
import urllib.error
import urllib.request

URL = os.environ["WEBHOOK_URL"]
SECRET = os.environ["WEBHOOK_SECRET"].encode()
WAITING = os.path.join(os.environ["RELAY_FOLDER"], "waiting")
REFUSED = os.path.join(os.environ["RELAY_FOLDER"], "refused")
PORT = int(os.environ.get("RELAY_PORT", "8088"))
LARGEST_BODY = 1024 * 1024
MOST_WAITING = int(os.environ.get("RELAY_MOST_WAITING", "10000"))
LONGEST_PAUSE = 60
# Statuses of a wrong event. After all other statuses a later attempt may succeed.
FINAL_STATUSES = (400, 413, 422)

arrived = threading.Event()


def keep(body):
    """Writes the event so that it survives a loss of power."""
    name = f"{time.time_ns():020d}-{threading.get_ident()}"
    draft = os.path.join(WAITING, f"{name}.draft")
    with open(draft, "wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
    os.rename(draft, os.path.join(WAITING, f"{name}.event"))
    folder = os.open(WAITING, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
    arrived.set()


class Receiver(http.server.BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return self.answer(411)
        if int(length) > LARGEST_BODY:
            return self.answer(413)
        if len(os.listdir(WAITING)) >= MOST_WAITING:
            return self.answer(503)
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            return self.answer(400)
        keep(body)
        self.answer(202)

    def answer(self, status):
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


def post(body):
    """Returns the status of the answer; 0 without an answer."""
    timestamp = str(int(time.time()))
    digest = hmac.new(SECRET, f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-Webhook-Timestamp": timestamp,
        "X-Webhook-Signature": f"sha256={digest}",
    }
    try:
        request = urllib.request.Request(URL, data=body, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code
    except (OSError, http.client.HTTPException):
        return 0


def deliver(name):
    """Returns whether the event needs no further attempt."""
    path = os.path.join(WAITING, name)
    with open(path, "rb") as file:
        status = post(file.read())
    if status in (200, 202):
        os.remove(path)
    elif status in FINAL_STATUSES:
        os.rename(path, os.path.join(REFUSED, name))
    else:
        print(f"not delivered, status {status}: retrying", flush=True)
        return False
    return True


def deliver_all():
    """Sends events in their order of arrival: later events wait for an earlier event."""
    pause = 1
    while True:
        arrived.clear()
        waiting = sorted(name for name in os.listdir(WAITING) if name.endswith(".event"))
        if all(deliver(name) for name in waiting):
            pause = 1
            arrived.wait()
        else:
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


for folder in (WAITING, REFUSED):
    os.makedirs(folder, mode=0o700, exist_ok=True)
server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"listening on 127.0.0.1:{server.server_port}", flush=True)
# In the main thread, so that an unexpected error ends the process and a supervisor notices.
deliver_all()
