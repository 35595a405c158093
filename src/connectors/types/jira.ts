import { shownStart, storable } from '../../platform/text.js';
import { address, fields, isObject, secret, text } from '../../targets/target-config.js';
import { listAt, said, textAt, valueAt } from '../calls/vendor-answers.js';
import { vendorApi } from '../calls/vendor-api.js';
import { defineConnector, done } from '../connector-type.js';

const LONGEST_SUMMARY = 255;
const LINE_ENDS = /\r\n|[\r\n\u0085\u2028\u2029]/;
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const API = ['rest', 'api', '3'];

export const jira = defineConnector({
  name: 'jira',
  description: 'Jira Cloud: opens issues in one project.',
  config: fields({
    base_url: address('Address of the site, such as https://example.atlassian.net.'),
    email: text('Email address of the account of the token.', {
      pattern: '^[^\\s:@]+@[^\\s:@]+$',
      minLength: 3,
      maxLength: 320,
    }),
    api_token: secret('API token of the account.', { pattern: '^[\\x21-\\x7e]+$' }),
    project_key: text('Project of the tickets.', {
      pattern: '^[A-Z][A-Z0-9_]{1,30}$',
      maxLength: 31,
    }),
    issue_type: text('Name of the type of new issues.', {
      minLength: 1,
      maxLength: 60,
      default: 'Task',
    }),
  }),
  connect: ({ base_url: baseUrl, email, api_token, project_key, issue_type }, outbound) => {
    const login = Buffer.from(`${email}:${api_token}`).toString('base64');
    const headers = { authorization: `Basic ${login}` };
    const api = vendorApi(outbound, { vendor: 'Jira', baseUrl, headers, complaintIn });
    return (gate) => ({ api: api(gate), project_key, issue_type });
  },
  actions: {
    create_ticket: {
      send: async ({ api, project_key, issue_type }, { actionId, parameters }) => {
        const { title, description, priority } = parameters;
        const issue = {
          project: { key: project_key },
          issuetype: { name: issue_type },
          summary: summaryOf(String(title)),
          labels: [actionId],
          ...(typeof description === 'string' && { description: documentOf(description) }),
          ...(typeof priority === 'string' && { priority: { name: summaryOf(priority) } }),
        };
        return await api.change({ path: [...API, 'issue'], body: { fields: issue } }, (json) =>
          opened(json, 'Jira opened'),
        );
      },
      /** The search may miss a new issue. So a match proves that the issue exists, but a missing match proves nothing. */
      ask: async ({ api, project_key }, { actionId }) => {
        const jql = `project = "${project_key}" AND labels = "${actionId}"`;
        const body = { jql, maxResults: 1, fields: ['summary'] };
        return await api.ask({ method: 'POST', path: [...API, 'search', 'jql'], body }, (json) => {
          const [issue] = listAt(json, 'issues');
          return issue === undefined ? 'unknown' : opened(issue, 'Jira had opened');
        });
      },
    },
  },
  test: async ({ api, project_key }) => {
    const path = [...API, 'project', project_key];
    return `Jira shows the project ${await api.ask({ path }, (json) => textAt(json, 'key'))}.`;
  },
});

/** Shortens the title to one line, because Jira rejects long summaries and line breaks. */
function summaryOf(title: string): string {
  const line = storable(title).replace(CONTROLS, ' ').trim();
  if (line.length <= LONGEST_SUMMARY) return line;
  return `${shownStart(line, LONGEST_SUMMARY - 1)}…`;
}

/** ADF text has no links or mentions: https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/ */
function documentOf(text: string): object {
  const lines = storable(text).split(LINE_ENDS);
  // Empty text nodes are invalid, so an empty line becomes an empty paragraph.
  const content = lines.map((line) => ({
    type: 'paragraph',
    content: line === '' ? [] : [{ type: 'text', text: line.replace(CONTROLS, ' ') }],
  }));
  return { type: 'doc', version: 1, content };
}

function opened(json: unknown, begin: string) {
  const [id, key] = [textAt(json, 'id'), textAt(json, 'key')];
  return done(`${begin} ${key}.`, { id, key });
}

/** Reads the messages of https://developer.atlassian.com/cloud/jira/platform/rest/v3/intro/#status-codes */
function complaintIn(json: unknown): string | undefined {
  const messages = valueAt(json, 'errorMessages');
  const errors = valueAt(json, 'errors');
  const ofFields = isObject(errors) ? Object.entries(errors) : [];
  const all = ofFields.map(([field, message]) => `${field}: ${said(message) ?? 'invalid'}`);
  if (Array.isArray(messages)) all.unshift(...messages.map(String));
  return all.join(' ') || undefined;
}
