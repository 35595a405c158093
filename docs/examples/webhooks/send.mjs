// Sends an event from standard input to a source with the signature `timestamped`. Node.js 20 or newer.
//
// WEBHOOK_URL=https://triage.example.com/api/webhooks/siem WEBHOOK_SECRET=... node send.mjs < event.json
import { createHmac } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const { WEBHOOK_URL, WEBHOOK_SECRET } = process.env;
const ATTEMPTS = 5;

function signed(body) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const digest = createHmac('sha256', WEBHOOK_SECRET).update(`${timestamp}.`).update(body);
  return {
    'Content-Type': 'application/json',
    'X-Webhook-Timestamp': timestamp,
    'X-Webhook-Signature': `sha256=${digest.digest('hex')}`,
  };
}

/** Returns status, text and Retry-After of the answer; status 0 without an answer. */
async function post(body) {
  try {
    const signal = AbortSignal.timeout(30_000);
    const answer = await fetch(WEBHOOK_URL, {
      method: 'POST',
      headers: signed(body),
      body,
      signal,
    });
    const retryAfter = answer.headers.get('retry-after');
    return { status: answer.status, text: await answer.text(), retryAfter };
  } catch (error) {
    return { status: 0, text: String(error.cause ?? error) };
  }
}

async function send(body) {
  for (let attempt = 1; ; attempt += 1) {
    // Each attempt has its own signature, which is valid for five minutes.
    const answer = await post(body);
    const mayHelp = [0, 408, 429].includes(answer.status) || answer.status >= 500;
    if (!mayHelp || attempt === ATTEMPTS) return answer;
    await sleep(1000 * (answer.retryAfter ? Number(answer.retryAfter) : 2 ** attempt));
  }
}

// Bytes, not text, because the signed bytes must be the sent bytes.
const { status, text } = await send(await buffer(process.stdin));
console.log(text);
process.exitCode = [200, 202].includes(status) ? 0 : 1;
