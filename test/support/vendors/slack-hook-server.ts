import { objectOf, type Reply, type Route, VendorServer } from './vendor-server.js';

export interface HookMessage {
  readonly text: string;
  readonly blocks: readonly {
    readonly type: string;
    readonly text?: { readonly type: string; readonly text: string };
    readonly fields?: readonly { readonly text: string }[];
  }[];
}

/** Text in which `<`, `>` and `&` occur only in escaped form, so that it contains no markup of Slack. */
const ESCAPED = '^([^<>&]|&amp;|&lt;|&gt;)*$';
const plain = (maxLength: number) =>
  objectOf({
    type: { const: 'plain_text' },
    text: { type: 'string', minLength: 1, maxLength, pattern: ESCAPED },
    emoji: { const: false },
  });
const LINK = objectOf({
  type: { const: 'mrkdwn' },
  text: { type: 'string', pattern: '^<https?://[^<>|\\s]+\\|[^<>|]+>$' },
  verbatim: { const: true },
});
const block = (type: string, properties: object) =>
  objectOf({ type: { const: type }, ...properties });

/**
 * Incoming webhooks of Slack. They respond in plain text: `ok`, or an error code.
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks,
 * https://docs.slack.dev/reference/block-kit/blocks/section-block, …/header-block for the maximum lengths
 */
export class SlackHookServer extends VendorServer {
  readonly token = 'S3cretS3cretS3cretS3cret';
  readonly messages: HookMessage[] = [];
  /** Minimum interval between messages, in ms. */
  shortestMs = 0;
  private takenAt = 0;

  protected readonly routes: readonly Route[] = [
    {
      on: 'POST /services/T00000000/B00000000/{token}',
      body: objectOf({
        text: { type: 'string', minLength: 1, maxLength: 40_000, pattern: ESCAPED },
        mrkdwn: { const: false },
        blocks: {
          type: 'array',
          minItems: 1,
          maxItems: 50,
          items: {
            anyOf: [
              block('header', { text: plain(150) }),
              block('section', { text: { anyOf: [plain(3_000), LINK] } }),
              block('section', {
                fields: { type: 'array', minItems: 1, maxItems: 10, items: plain(2_000) },
              }),
            ],
          },
        },
        unfurl_links: { const: false },
        unfurl_media: { const: false },
      }),
      answer: ({ path, body }) => this.post(path.token!, body as HookMessage),
    },
  ];

  get hook(): string {
    return `${this.url}/services/T00000000/B00000000/${this.token}`;
  }

  override forget(): void {
    super.forget();
    this.shortestMs = 0;
    this.messages.length = 0;
  }

  protected override error(status: number): Reply {
    const words: Readonly<Record<number, string>> = {
      400: 'invalid_payload',
      403: 'action_prohibited',
      404: 'no_service',
      410: 'channel_is_archived',
    };
    return { status, text: words[status] ?? `error ${status}` };
  }

  protected errorOf(): unknown {
    return undefined;
  }

  private post(token: string, message: HookMessage): Reply {
    if (token !== this.token) return { status: 403, text: 'invalid_token' };
    if (Date.now() - this.takenAt < this.shortestMs) {
      return { status: 429, headers: { 'retry-after': this.retryAfter }, text: 'rate_limited' };
    }
    this.takenAt = Date.now();
    this.messages.push(message);
    return { status: 200, text: 'ok' };
  }
}
