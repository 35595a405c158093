import { createHmac, randomBytes } from 'node:crypto';

/** Of the source that sends; its secret is no secret. */
export const SENDER = {
  source: 'bench',
  secret: 'the secret of the benchmark, long enough',
} as const;

export interface Delivery {
  readonly host: string;
  readonly path: string;
  readonly body: string;
}

/** A whole request, signed now as its sender would sign it. */
export function signedRequest({ host, path, body }: Delivery): Buffer {
  const timestamp = Math.floor(Date.now() / 1000);
  const digest = createHmac('sha256', SENDER.secret).update(`${timestamp}.${body}`).digest('hex');
  return Buffer.from(
    [
      `POST ${path} HTTP/1.1`,
      `host: ${host}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-webhook-timestamp: ${timestamp}`,
      `x-webhook-signature: sha256=${digest}`,
      '',
      body,
    ].join('\r\n'),
  );
}

/** No two processes, and no two calls of one, send the same event. */
const run = randomBytes(4).toString('hex');
let count = 0;

/** An alert on a host with an id of its own; some 480 bytes. */
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
        host: `ws-${count % 997}.example.net`,
        user: `user${count % 4_999}@example.com`,
        file_name: 'invoice.docm',
        process: 'C:\\Windows\\System32\\cmd.exe /c start',
        sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        source_ip: '192.0.2.44',
      },
    },
  });
}

/** The same about a host and a file of its own, so that no action repeats another one. */
export function newAlert(): string {
  const n = count + 1;
  const alert = JSON.parse(newEvent()) as { data: { details: Record<string, string> } };
  const details = {
    ...alert.data.details,
    host: `ws-${n}.example.net`,
    sha256: n.toString(16).padStart(64, '5'),
  };
  return JSON.stringify({ ...alert, data: { ...alert.data, details } });
}
