import { shownStart, storable } from '../../platform/text.js';
import { address, fields, secret } from '../../targets/target-config.js';
import { listAt, textAt, valueAt } from '../calls/vendor-answers.js';
import { fixedCredentials, VendorApi } from '../calls/vendor-api.js';
import { defineConnector, type Outcome, TEST_TIMEOUT_MS } from '../connector-type.js';

const LONGEST_SUMMARY = 255;
const LINE_ENDS = /\r\n|[\r\n\u0085\u2028\u2029]/;
/** Includes tabs. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Opens issues in one project. Each has the action id as a label, so that it can be found again. */
export const jira = defineConnector({
  name: 'jira',
  description: 'Jira Cloud: opens issues in one project.',
  config: fields(
    {
      base_url: address('Address of the site, such as https://example.atlassian.net.', {
        minLength: 8,
      }),
      email: {
        type: 'string',
        pattern: '^[^\\s:@]+@[^\\s:@]+$',
        minLength: 3,
        maxLength: 320,
        description: 'Email address of the account of the token.',
      },
      api_token: secret('API token of the account.', { pattern: '^[\\x21-\\x7e]+$' }),
      project_key: {
        type: 'string',
        pattern: '^[A-Z][A-Z0-9_]{1,30}$',
        maxLength: 31,
        description: 'Project of the tickets.',
      },
      issue_type: {
        type: 'string',
        minLength: 1,
        maxLength: 60,
        default: 'Task',
        description: 'Name of the type of new issues.',
      },
    },
    ['base_url', 'email', 'api_token', 'project_key'],
  ),
  destinations: [{ address: 'base_url' }],
  connect: ({ base_url: baseUrl, email, api_token, project_key, issue_type }, outbound) => {
    const login = Buffer.from(`${email}:${api_token}`).toString('base64');
    const credentials = fixedCredentials({ authorization: `Basic ${login}` });
    const secrets = [api_token, login];
    const api = new VendorApi(outbound, {
      vendor: 'Jira',
      baseUrl,
      credentials,
      secrets,
      complaintIn,
    });
    return { api, project_key, issue_type };
  },
  actions: {
    create_ticket: {
      idempotent: false,
      send: async ({ api, project_key, issue_type }, { actionId, parameters }, gate) => {
        const { title, description, priority } = parameters;
        const issue = {
          project: { key: project_key },
          issuetype: { name: issue_type },
          summary: summaryOf(String(title)),
          labels: [actionId],
          ...(typeof description === 'string' && { description: documentOf(description) }),
          ...(typeof priority === 'string' && { priority: { name: summaryOf(priority) } }),
        };
        const path = ['rest', 'api', '3', 'issue'];
        const request = {
          method: 'POST',
          path,
          body: { fields: issue },
          idempotent: false,
        } as const;
        return await api.change(gate, request, (json) => opened(json, 'Jira opened'));
      },
      /** The search may not find a new issue yet. So a hit proves that the issue was opened, but a miss proves nothing. */
      ask: async ({ api, project_key }, { actionId }) => {
        const jql = `project = "${project_key}" AND labels = "${actionId}"`;
        const path = ['rest', 'api', '3', 'search', 'jql'];
        const body = { jql, maxResults: 1, fields: ['summary'] };
        return await api.ask(undefined, { method: 'POST', path, body }, (json) => {
          const [issue] = listAt(json, 'issues');
          return issue === undefined ? 'unknown' : opened(issue, 'Jira had opened');
        });
      },
    },
  },
  test: async ({ api, project_key }) => {
    const path = ['rest', 'api', '3', 'project', project_key];
    const request = { method: 'GET', path, timeoutMs: TEST_TIMEOUT_MS } as const;
    const key = await api.ask(undefined, request, (json) => textAt(json, 'key'));
    return `Jira shows the project ${key}.`;
  },
});

/** Jira rejects long summaries and line breaks. */
function summaryOf(title: string): string {
  const line = storable(title).replace(CONTROLS, ' ').trim();
  if (line.length <= LONGEST_SUMMARY) return line;
  // Half of a surrogate pair at the cut becomes one character.
  return `${shownStart(line, LONGEST_SUMMARY - 1)}…`;
}

/**
 * Converts text to an ADF document with a paragraph per line. Text nodes contain only text, so nothing in it can become
 * a link, a mention or a panel. https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
 */
function documentOf(text: string): object {
  const content = storable(text)
    .split(LINE_ENDS)
    .map((line) => line.replace(CONTROLS, ' '))
    .map((line) => ({
      type: 'paragraph',
      // Empty text nodes are invalid, empty paragraphs are valid.
      content: line === '' ? [] : [{ type: 'text', text: line }],
    }));
  return { type: 'doc', version: 1, content };
}

function opened(json: unknown, begin: string): Outcome {
  const [id, key] = [textAt(json, 'id'), textAt(json, 'key')];
  return { kind: 'done', message: `${begin} ${key}.`, data: { id, key } };
}

/** `{errorMessages: [...], errors: {field: message}}`: https://developer.atlassian.com/cloud/jira/platform/rest/v3/intro/#status-codes */
function complaintIn(json: unknown): string | undefined {
  const messages = valueAt(json, 'errorMessages');
  const errors = valueAt(json, 'errors');
  const general = Array.isArray(messages) ? messages : [];
  const fields =
    typeof errors === 'object' && errors !== null
      ? Object.entries(errors).map(([field, message]) => `${field}: ${String(message)}`)
      : [];
  const all = [...general.map(String), ...fields];
  return all.length > 0 ? all.join(' ') : undefined;
}
