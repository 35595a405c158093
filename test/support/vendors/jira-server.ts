import type { IncomingMessage } from 'node:http';
import { objectOf, type Reply, type Route, VendorServer } from './vendor-server.js';

export interface JiraFields {
  readonly summary: string;
  readonly labels: readonly string[];
  readonly description?: { readonly content: readonly object[] };
  readonly priority?: { readonly name: string };
}

export interface JiraIssue {
  readonly id: string;
  readonly key: string;
  readonly fields: JiraFields;
}

const NAMED = (key: string) => objectOf({ [key]: { type: 'string', minLength: 1 } });

/** The nodes of https://unpkg.com/@atlaskit/adf-schema/dist/json-schema/v1/full.json that the connector writes. */
const DOCUMENT = objectOf({
  type: { const: 'doc' },
  version: { const: 1 },
  content: {
    type: 'array',
    items: objectOf(
      {
        type: { const: 'paragraph' },
        content: {
          type: 'array',
          items: objectOf({ type: { const: 'text' }, text: { type: 'string', minLength: 1 } }),
        },
      },
      ['content'],
    ),
  },
});

/**
 * Jira Cloud's REST API v3, as far as the connector uses it.
 * https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issues/#api-rest-api-3-issue-post
 * https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issue-search/#api-rest-api-3-search-jql-post
 */
export class JiraServer extends VendorServer {
  readonly email = 'soc@example.com';
  readonly token = 'jira-token-0123456789';
  readonly issues: JiraIssue[] = [];
  /** True if the search index already contains new issues. */
  isIndexed = true;

  protected readonly routes: readonly Route[] = [
    {
      on: 'POST /rest/api/3/issue',
      body: objectOf({
        fields: objectOf(
          {
            project: NAMED('key'),
            issuetype: NAMED('name'),
            summary: { type: 'string', pattern: '^[^\\r\\n]{1,255}$' },
            labels: { type: 'array', items: { type: 'string', pattern: '^\\S{1,255}$' } },
            description: DOCUMENT,
            priority: NAMED('name'),
          },
          ['labels', 'description', 'priority'],
        ),
      }),
      answer: ({ body }) => this.open((body as { fields: JiraFields }).fields),
    },
    {
      on: 'POST /rest/api/3/search/jql',
      body: objectOf(
        {
          jql: { type: 'string', pattern: '^project = "SEC" AND labels = "[A-Za-z0-9-]+"$' },
          maxResults: { type: 'integer' },
          fields: { type: 'array', items: { type: 'string' } },
        },
        ['maxResults', 'fields'],
      ),
      answer: ({ body }) => this.search((body as { jql: string }).jql),
    },
    {
      on: 'GET /rest/api/3/project/{key}',
      answer: ({ path }) =>
        path.key === 'SEC'
          ? { status: 200, body: { id: '10000', key: 'SEC', name: 'Security' } }
          : this.error(404, `No project could be found with key '${path.key}'.`),
    },
  ];

  get config() {
    const account = { email: this.email, api_token: this.token, project_key: 'SEC' };
    return { base_url: this.url, ...account };
  }

  override forget(): void {
    super.forget();
    this.issues.length = 0;
    this.isIndexed = true;
  }

  protected override isLetIn({ authorization }: IncomingMessage['headers']): boolean {
    const login = Buffer.from(`${this.email}:${this.token}`).toString('base64');
    return authorization === `Basic ${login}`;
  }

  protected errorOf(_status: number, message: string): unknown {
    return { errorMessages: [message], errors: {} };
  }

  private open(fields: JiraFields): Reply {
    if (fields.priority && !['High', 'Low'].includes(fields.priority.name)) {
      const errors = { priority: 'The priority selected is invalid.' };
      return { status: 400, body: { errorMessages: [], errors } };
    }
    const number = this.issues.length + 1;
    const issue = { id: String(10_000 + number), key: `SEC-${number}`, fields };
    this.issues.push(issue);
    const self = `${this.url}/rest/api/3/issue/${issue.id}`;
    return { status: 201, body: { id: issue.id, key: issue.key, self } };
  }

  private search(jql: string): Reply {
    const label = /labels = "([^"]*)"/.exec(jql)![1]!;
    const found = this.isIndexed
      ? this.issues.filter(({ fields }) => fields.labels.includes(label))
      : [];
    return { status: 200, body: { issues: found, isLast: true } };
  }
}
