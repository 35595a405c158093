import type { IncomingMessage } from 'node:http';
import { objectOf, type Reply, type Route, VendorServer } from './vendor-server.js';

export interface SlackMessage {
  readonly channel: string;
  readonly text: string;
}

/**
 * Slack's Web API, as far as the connector uses it. Most errors come with status 200 and `ok: false`.
 * https://docs.slack.dev/reference/methods/chat.postMessage, https://docs.slack.dev/reference/methods/auth.test
 */
export class SlackServer extends VendorServer {
  readonly token = 'xoxb-test-0123456789';
  readonly messages: SlackMessage[] = [];
  readonly channels = new Map([
    ['soc', 'C0123456789'],
    ['C0123456789', 'C0123456789'],
  ]);

  protected readonly routes: readonly Route[] = [
    {
      on: 'POST /api/chat.postMessage',
      body: objectOf(
        {
          channel: { type: 'string' },
          text: { type: 'string', maxLength: 40_000 },
          mrkdwn: { const: false },
          parse: { const: 'none' },
          link_names: { const: false },
          unfurl_links: { const: false },
          unfurl_media: { const: false },
        },
        ['link_names'],
      ),
      answer: ({ body }) => this.post(body as SlackMessage),
    },
    {
      on: 'POST /api/auth.test',
      answer: () => ok({ url: 'https://example.slack.com/', team_id: 'T1', user_id: 'U1' }),
    },
  ];

  get config() {
    return { base_url: `${this.url}/api`, bot_token: this.token };
  }

  override forget(): void {
    super.forget();
    this.messages.length = 0;
  }

  protected override isLetIn({ authorization }: IncomingMessage['headers']): boolean {
    return authorization === `Bearer ${this.token}`;
  }

  protected errorOf(_status: number, message: string): unknown {
    return { ok: false, error: message };
  }

  private post({ channel, text }: SlackMessage): Reply {
    const id = this.channels.get(channel.replace(/^#/, ''));
    if (!id) return { status: 200, body: this.errorOf(200, 'channel_not_found') };
    this.messages.push({ channel: id, text });
    const ts = `1790000000.00000${this.messages.length}`;
    return ok({ channel: id, ts, message: { type: 'message', text, ts } });
  }
}

function ok(body: object): Reply {
  return { status: 200, body: { ok: true, ...body } };
}
