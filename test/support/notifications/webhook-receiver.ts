import { createHmac, timingSafeEqual } from 'node:crypto';
import { FakeVendor, type SeenRequest } from '../fake-vendor.js';

const TOLERANCE_SECONDS = 300;

export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: ReturnType<typeof JSON.parse>;
}

/** True if a signature was made with the secret, according to Standard Webhooks. */
export function isSignedBy(secret: string, { headers, body }: SeenRequest): boolean {
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  return String(headers['webhook-signature'])
    .split(' ')
    .some((signature) => {
      const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
}

/** A receiver of webhooks. Its behaviour is set as for other vendors. */
export class WebhookReceiver {
  private constructor(readonly vendor: FakeVendor) {}

  static async start(): Promise<WebhookReceiver> {
    return new WebhookReceiver(await FakeVendor.start());
  }

  get url(): string {
    return `${this.vendor.url}/hook?from=tests`;
  }

  get requests(): readonly SeenRequest[] {
    return this.vendor.requests;
  }

  /** Events of all requests, including rejected ones. */
  get events(): ReceivedEvent[] {
    return this.requests.map(({ body }) => JSON.parse(body) as ReceivedEvent);
  }

  stop(): Promise<void> {
    return this.vendor.stop();
  }
}
