#!/usr/bin/env python3
"""Sends an event from standard input to a source with the signature `timestamped`.

WEBHOOK_URL=https://triage.example.com/api/webhooks/siem WEBHOOK_SECRET=... python3 send.py < event.json
"""
import hashlib
import hmac
import http.client
import os
import sys
import time
import urllib.error
import urllib.request

URL = os.environ["WEBHOOK_URL"]
SECRET = os.environ["WEBHOOK_SECRET"].encode()
ATTEMPTS = 5


def signed(body):
    timestamp = str(int(time.time()))
    digest = hmac.new(SECRET, f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "X-Webhook-Timestamp": timestamp,
        "X-Webhook-Signature": f"sha256={digest}",
    }


def post(body):
    """Returns status, text and Retry-After of the answer; status 0 without an answer."""
    request = urllib.request.Request(URL, data=body, headers=signed(body))
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode(), None
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode(), refused.headers.get("Retry-After")
    except (OSError, http.client.HTTPException) as error:
        return 0, str(error), None


def send(body):
    for attempt in range(1, ATTEMPTS + 1):
        # Each attempt has its own signature, which is valid for five minutes.
        status, text, retry_after = post(body)
        may_help = status in (0, 408, 429) or status >= 500
        if not may_help or attempt == ATTEMPTS:
            return status, text
        time.sleep(float(retry_after) if retry_after else 2**attempt)


# Bytes, not text, because the signed bytes must be the sent bytes.
final_status, final_text = send(sys.stdin.buffer.read())
print(final_text)
sys.exit(0 if final_status in (200, 202) else 1)
