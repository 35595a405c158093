#!/bin/sh
# Sends an event from standard input to a source with the signature `timestamped`. Needs curl and openssl.
#
# WEBHOOK_URL=https://triage.example.com/api/webhooks/siem WEBHOOK_SECRET=... sh send.sh < event.json
#
# The list of processes briefly shows the secret. On a shared machine use another example.
set -eu

# In a file, because a shell variable would lose the last line feed and every NUL.
body=$(mktemp)
trap 'rm -f "$body"' EXIT
cat >"$body"

timestamp=$(date +%s)
signature=$({ printf '%s.' "$timestamp" && cat "$body"; } |
  openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" | sed 's/^.* //')

# Retries after 408, 429, 5xx and a refused connection while the signature is valid, and obeys Retry-After.
curl --silent --show-error --fail-with-body --max-time 30 \
  --retry 4 --retry-connrefused --retry-max-time 240 \
  --header 'Content-Type: application/json' \
  --header "X-Webhook-Timestamp: $timestamp" \
  --header "X-Webhook-Signature: sha256=$signature" \
  --data-binary "@$body" "$WEBHOOK_URL"
