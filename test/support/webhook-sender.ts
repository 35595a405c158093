import { createHmac } from 'node:crypto';
import type { Answer, ApiClient } from './api-client.js';

export const SENDER_SECRET = 'a secret of the sender, long enough';

interface Sent {
  readonly body: string | Buffer;
  readonly source: string;
  readonly secret?: string;
  /** Seconds from now to the signed time. */
  readonly offset?: number;
}

/** Tool that signs its requests as specified: a timestamp, a period, and the bytes of the body. */
export class WebhookSender {
  private ticks = 0;

  constructor(
    private readonly client: ApiClient,
    private readonly source = 'siem',
  ) {}

  /** Each attempt has a new timestamp, like that of a sender that retries. */
  async send(event: unknown, type = 'application/json'): Promise<Answer> {
    this.ticks = (this.ticks + 1) % 200;
    const body =
      Buffer.isBuffer(event) || typeof event === 'string' ? event : JSON.stringify(event);
    return await this.client.post(`/api/webhooks/${this.source}`, body, {
      'content-type': type,
      ...signed({ body, source: this.source, offset: -this.ticks }),
    });
  }
}

export function signed({ body, secret = SENDER_SECRET, offset = 0 }: Sent): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000) + offset);
  const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  return { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': `sha256=${digest}` };
}

/** Registers a source whose secret is SENDER_SECRET. */
export async function registerSource(admin: ApiClient, more: object = {}): Promise<void> {
  const body = { source: 'siem', secret: SENDER_SECRET, ...more };
  const answer = await admin.post('/api/webhooks', body);
  if (answer.status !== 201) throw new Error(answer.text);
}
