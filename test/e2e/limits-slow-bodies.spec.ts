import { as, makeUser } from '../support/principals.js';
import { RawConnection } from '../support/raw-http.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';

const LARGE_BYTES = 300_000;
const SMALL_BYTES = 16_384;
const RECEIPTS = 60;

describe('Slow bodies without a credential', () => {
  let app: TestApp;
  const held: RawConnection[] = [];

  beforeAll(async () => {
    app = await startTestApp();
    await registerSource(await as(app, 'admin'));
  });
  afterEach(() => held.splice(0).forEach((connection) => connection.reset()));
  afterAll(() => app.close());

  /** Sends all of a body except its end, at a source that does not exist. */
  const hold = async (framing: 'announced' | 'chunked', size: number): Promise<void> => {
    const connection = await RawConnection.open(app.port);
    held.push(connection);
    const head = framing === 'announced' ? `Content-Length: ${size}` : 'Transfer-Encoding: chunked';
    const bytes = 'x'.repeat(size - 1_000);
    const part = framing === 'announced' ? bytes : `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
    connection.send(
      `POST /api/webhooks/nobody HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${head}\r\n\r\n`,
      part,
    );
  };

  it.each([
    [4, 'announced', LARGE_BYTES],
    [4, 'chunked', LARGE_BYTES],
    [48, 'announced', LARGE_BYTES],
    [48, 'chunked', LARGE_BYTES],
    [48, 'announced', SMALL_BYTES],
    [48, 'chunked', SMALL_BYTES],
    [200, 'announced', SMALL_BYTES],
  ] as const)(
    'from %d connections (%s, %d bytes) leave room for receipts and logins from the same address',
    async (connections, framing, size) => {
      await Promise.all(Array.from({ length: connections }, () => hold(framing, size)));
      const sender = new WebhookSender(app.client);
      const statuses: number[] = [];
      for (let count = 0; count < RECEIPTS; count += 1) {
        const event = {
          event_type: 'malware',
          timestamp: '2026-01-31T09:30:00Z',
          source: 'siem',
          data: { alert_id: `${connections} ${framing} ${size} ${count}`, text: 'y'.repeat(4_000) },
        };
        statuses.push((await sender.send(event)).status);
      }
      expect(new Set(statuses)).toEqual(new Set([200]));
      const user = await makeUser(app, 'viewer');
      const body = { username: user.name, password: user.password };
      expect((await app.request('POST', '/login', { body })).status).toBe(200);
    },
  );
});
