// Receives webhooks of the incident triage service and verifies their signatures.
//
// WEBHOOK_SECRET=whsec_... PORT=8080 node receive.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const KEY = Buffer.from(process.env.WEBHOOK_SECRET.replace(/^whsec_/, ''), 'base64');
const TOLERANCE_SECONDS = 300;
const LARGEST_BODY = 1024 * 1024;

// Ids of handled events. A service with several processes keeps them in its database for two days.
const seen = new Set();

function isGenuine({ id, timestamp, signatures }, body) {
  if (!/^\d+$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const hmac = createHmac('sha256', KEY).update(`${id}.${timestamp}.`).update(body);
  const expected = hmac.digest();
  // After a change of the secret there are two signatures for 24 hours. One match is enough.
  return signatures.split(' ').some((part) => {
    if (!part.startsWith('v1,')) return false;
    const given = Buffer.from(part.slice(3), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function handle(event) {
  console.log(event.type, event.id);
}

const server = createServer(async (request, response) => {
  // The signature covers the received bytes: JSON that is serialized again may differ.
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > LARGEST_BODY) return response.writeHead(413).end();
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  const { headers } = request;
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  const signatures = headers['webhook-signature'] ?? '';
  if (!isGenuine({ id, timestamp, signatures }, body)) return response.writeHead(401).end();
  if (!seen.has(id)) {
    handle(JSON.parse(body));
    seen.add(id);
  }
  response.writeHead(204).end();
});

server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () =>
  console.log(`Listening on http://127.0.0.1:${server.address().port}/`),
);
