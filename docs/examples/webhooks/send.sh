#!/bin/sh
# Sends one event, read from the standard input, to a source with the signature `timestamped`. Needs curl and openssl.
#
# WEBHOOK_URL=https://triage.example.com/api/webhooks/siem WEBHOOK_SECRET=... sh send.sh < event.json
#
# For a moment the list of processes shows the secret: where others use the machine, take one of the other examples.
set -eu

# In a file, because a variable of the shell would lose the last line feed and every NUL.
body=$(mktemp)
trap 'rm -f "$body"' EXIT
cat >"$body"

timestamp=$(date +%s)
signature=$({ printf '%s.' "$timestamp" && cat "$body"; } |
  openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" | sed 's/^.* //')

# It repeats after 408, 429, 5xx and a refused connection, as long as the signature is valid, and heeds Retry-After.
curl --silent --show-error --fail-with-body --max-time 30 \
  --retry 4 --retry-connrefused --retry-max-time 240 \
  --header 'Content-Type: application/json' \
  --header "X-Webhook-Timestamp: $timestamp" \
  --header "X-Webhook-Signature: sha256=$signature" \
  --data-binary "@$body" "$WEBHOOK_URL"
