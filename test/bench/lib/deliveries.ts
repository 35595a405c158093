import { createHmac, randomBytes } from 'node:crypto';
import { connect } from 'node:net';

/** Webhook source of the benchmark. */
export const SENDER = {
  source: 'bench',
  secret: 'the secret of the benchmark, long enough',
} as const;

const run = randomBytes(4).toString('hex');
let count = 0;

/** An alert with an id, a host and a file of its own, so that no action repeats another. */
function newAlert(): string {
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

/** A whole HTTP request with an alert, signed now. */
function signedRequest(host: string): string {
  const body = newAlert();
  const timestamp = Math.floor(Date.now() / 1000);
  const digest = createHmac('sha256', SENDER.secret).update(`${timestamp}.${body}`).digest('hex');
  return [
    `POST /api/webhooks/${SENDER.source} HTTP/1.1`,
    `host: ${host}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-webhook-timestamp: ${timestamp}`,
    `x-webhook-signature: sha256=${digest}`,
    '',
    body,
  ].join('\r\n');
}

/** Sends alerts one after another on each of the connections. Plain sockets take little of the processor time. */
export async function sendAlerts(url: string, alerts: number, connections: number): Promise<void> {
  const { host } = new URL(url);
  const requests = Array.from({ length: alerts }, () => signedRequest(host));
  await Promise.all(Array.from({ length: connections }, () => sendAll(url, requests)));
}

const ANSWER = /^HTTP\/1\.1 (\d+)[^]*?\r\ncontent-length: (\d+)\r\n[^]*?\r\n\r\n/i;

function sendAll(url: string, requests: string[]): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let received = '';
    const next = (): void => {
      const request = requests.pop();
      if (request !== undefined) return void socket.write(request);
      resolve();
      socket.destroy();
    };
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('The connection was closed before the answer.')));
    socket.on('connect', next);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const [head = '', status, length] = ANSWER.exec(received) ?? [];
      if (head === '' || received.length < head.length + Number(length)) return;
      if (status !== '200' && status !== '202') reject(new Error(`No figure: ${received}`));
      received = '';
      next();
    });
  });
}
