import { createHmac, randomBytes } from 'node:crypto';
import type { Target } from './processes.ts';

/** Source of the webhook events. Its secret protects nothing. */
export const SENDER = { source: 'bench', secret: 'the secret of the benchmark, long enough' };

export const RECEIPT_PATH = `/api/webhooks/${SENDER.source}`;

/** Returns a complete HTTP request. */
export function request(target: Target, method: string, path: string, body = ''): Buffer {
  const { host } = new URL(target.url);
  const headers = { host, ...target.headers, ...(body && { 'content-type': 'application/json' }) };
  return message(`${method} ${path}`, headers, body);
}

/** Returns a request with a webhook event, signed now as the sender of the event would sign it. */
export function signedRequest({ url }: Target, path: string, body: string): Buffer {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const digest = createHmac('sha256', SENDER.secret).update(`${timestamp}.${body}`).digest('hex');
  const headers = {
    host: new URL(url).host,
    'content-type': 'application/json',
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': `sha256=${digest}`,
  };
  return message(`POST ${path}`, headers, body);
}

function message(start: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const length = body && `content-length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(`${start} HTTP/1.1\r\n${lines.join('\r\n')}\r\n${length}\r\n${body}`);
}

/** Random part of each event, so that no two processes send the same event. */
const run = randomBytes(4).toString('hex');
let count = 0;

/**
 * Returns a new alert of about 480 bytes. No two alerts have the same host and file, so no action repeats another
 * action.
 */
export function newEvent(): string {
  count += 1;
  return JSON.stringify({
    event_type: 'malware',
    timestamp: '2026-01-31T09:29:41Z',
    source: 'edr',
    data: {
      alert_id: `${run}-${count}`,
      severity: 'high',
      details: {
        rule_name: 'Suspicious child process of an office program',
        host: `ws-${count}.example.net`,
        user: `user${count % 4_999}@example.com`,
        file_name: 'invoice.docm',
        process: 'C:\\Windows\\System32\\cmd.exe /c start',
        sha256: count.toString(16).padStart(64, '5'),
        source_ip: '192.0.2.44',
      },
    },
  });
}
