import { objectOf, type Reply, type Route, VendorServer } from './vendor-server.js';

interface TextRun {
  readonly text: string;
}
export interface TeamsMessage {
  readonly attachments: readonly [
    {
      readonly content: {
        readonly body: readonly { readonly inlines: readonly TextRun[] }[];
        readonly actions: readonly { readonly url: string }[];
      };
    },
  ];
}

const MOST_BYTES = 28 * 1_024;
/** Plain text without functions (`{{DATE(…)}}`) and templates (`${…}`). */
const RUN = objectOf(
  {
    type: { const: 'TextRun' },
    text: { type: 'string', minLength: 1, not: { pattern: '\\{\\{|\\$\\{' } },
    size: { enum: ['Default', 'Large'] },
    weight: { enum: ['Default', 'Bolder'] },
  },
  ['size', 'weight'],
);
const CARD = objectOf(
  {
    $schema: { const: 'http://adaptivecards.io/schemas/adaptive-card.json' },
    type: { const: 'AdaptiveCard' },
    version: { enum: ['1.2', '1.3', '1.4', '1.5'] },
    body: {
      type: 'array',
      minItems: 1,
      items: objectOf({
        type: { const: 'RichTextBlock' },
        inlines: { type: 'array', minItems: 1, items: RUN },
      }),
    },
    actions: {
      type: 'array',
      maxItems: 6,
      items: objectOf({
        type: { const: 'Action.OpenUrl' },
        title: { type: 'string' },
        url: { type: 'string', pattern: '^https?://' },
      }),
    },
  },
  ['$schema', 'actions'],
);

/**
 * A Teams workflow that starts when a webhook request is received. Its URL contains a signature, its message is an Adaptive
 * Card, and its response is 202 without a body. Errors are errors of Azure Logic Apps.
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using,
 * https://learn.microsoft.com/connectors/teams/#microsoft-teams-webhook,
 * https://learn.microsoft.com/adaptive-cards/schema-explorer/rich-text-block
 */
export class TeamsServer extends VendorServer {
  readonly signature = 'S3cret-signature_of-the-workflow';
  readonly messages: TeamsMessage[] = [];

  protected readonly routes: readonly Route[] = [
    {
      on: 'POST /workflows/0123456789abcdef/triggers/manual/paths/invoke',
      query: {
        'api-version': '2016-06-01',
        sp: '/triggers/manual/run',
        sv: '1.0',
        sig: /^.+$/,
      },
      body: objectOf({
        type: { const: 'message' },
        attachments: {
          type: 'array',
          minItems: 1,
          maxItems: 1,
          items: objectOf(
            {
              contentType: { const: 'application/vnd.microsoft.card.adaptive' },
              contentUrl: { const: null },
              content: CARD,
            },
            ['contentUrl'],
          ),
        },
      }),
      answer: ({ query, body }) => this.post(query.sig!, body as TeamsMessage),
    },
  ];

  get hook(): string {
    const query = `api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=${this.signature}`;
    return `${this.url}/workflows/0123456789abcdef/triggers/manual/paths/invoke?${query}`;
  }

  get shown(): string[] {
    const { body } = this.messages.at(-1)!.attachments[0].content;
    return body.map(({ inlines }) => inlines.map(({ text }) => text).join(''));
  }

  override forget(): void {
    super.forget();
    this.messages.length = 0;
  }

  protected errorOf(status: number, message: string): unknown {
    return { error: { code: status === 400 ? 'InvalidRequestContent' : 'Error', message } };
  }

  private post(signature: string, message: TeamsMessage): Reply {
    if (signature !== this.signature) return this.error(401);
    if (Buffer.byteLength(JSON.stringify(message)) > MOST_BYTES) return this.error(413);
    this.messages.push(message);
    return { status: 202 };
  }
}
