import { shownStart, storable } from '../../../platform/text.js';
import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Gate } from '../../../platform/net/outbound-request.js';
import { listAt, textAt, valueAt } from '../../calls/vendor-answers.js';
import { testResult, unlessRefused } from '../../calls/vendor-answers.js';
import { type ApiRequest, fixedCredentials, VendorApi } from '../../calls/vendor-api.js';
import { VendorCalls } from '../../calls/vendor-calls.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
  TEST_TIMEOUT_MS,
  ConnectorType,
} from '../../connector-type.js';
import { Injectable } from '@nestjs/common';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { SHORTEST_SECRET, type Config, type ConfigSchema } from '../../../targets/target-config.js';

const LONGEST_SUMMARY = 255;
const LINE_ENDS = /\r\n|[\r\n\u0085\u2028\u2029]/;
/** Includes tabs. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Jira rejects long summaries and line breaks. */
export function summaryOf(title: string): string {
  const line = storable(title).replace(CONTROLS, ' ').trim();
  if (line.length <= LONGEST_SUMMARY) return line;
  // Half of a surrogate pair at the cut becomes one character.
  return `${shownStart(line, LONGEST_SUMMARY - 1)}…`;
}

/**
 * Converts text to an ADF document with a paragraph per line. Text nodes contain only text, so nothing in it can become
 * a link, a mention or a panel. https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
 */
export function documentOf(text: string): object {
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

export interface JiraConfig {
  readonly base_url: string;
  readonly email: string;
  readonly api_token: string;
  readonly project_key: string;
  readonly issue_type?: string;
}

const DEFAULT_ISSUE_TYPE = 'Task';

/** Opens issues in one project. Each has the action id as a label, so that it can be found again. */
export class JiraConnector extends Connector {
  private readonly api: VendorApi;

  constructor(
    identity: ConnectorIdentity,
    private readonly config: JiraConfig,
    calls: VendorCalls,
  ) {
    super(identity);
    const { base_url: baseUrl, email, api_token } = config;
    const login = Buffer.from(`${email}:${api_token}`).toString('base64');
    this.api = new VendorApi(calls, {
      vendor: 'Jira',
      baseUrl,
      credentials: fixedCredentials({ authorization: `Basic ${login}` }),
      secrets: [api_token, login],
      complaintIn,
    });
  }

  provides(type: ActionTypeName): boolean {
    return type === 'create_ticket';
  }

  /** A second request opens a second issue. */
  idempotent(): boolean {
    return false;
  }

  execute(call: ActionCall, gate: Gate): Promise<Outcome> {
    return unlessRefused(async () => {
      const body = { fields: this.fieldsOf(call) };
      const path = ['rest', 'api', '3', 'issue'];
      const request = { method: 'POST', path, body, idempotent: false } as const;
      return await this.api.change(gate, request, (json) => opened(json, 'Jira opened'));
    });
  }

  /** The search may not find a new issue yet. So a hit proves that the issue was opened, but a miss proves nothing. */
  override async probe({ actionId }: ActionCall): Promise<Outcome | 'unknown'> {
    const jql = `project = "${this.config.project_key}" AND labels = "${actionId}"`;
    const request: ApiRequest = {
      method: 'POST',
      path: ['rest', 'api', '3', 'search', 'jql'],
      body: { jql, maxResults: 1, fields: ['summary'] },
    };
    return await this.api.ask(undefined, request, (json) => {
      const [issue] = listAt(json, 'issues');
      return issue === undefined ? 'unknown' : opened(issue, 'Jira had opened');
    });
  }

  test(): Promise<TestResult> {
    const { project_key } = this.config;
    return testResult(async () => {
      const path = ['rest', 'api', '3', 'project', project_key];
      const request = { method: 'GET', path, timeoutMs: TEST_TIMEOUT_MS } as const;
      const key = await this.api.ask(undefined, request, (json) => textAt(json, 'key'));
      return `Jira shows the project ${key}.`;
    });
  }

  private fieldsOf({ actionId, parameters }: ActionCall): object {
    const { project_key, issue_type = DEFAULT_ISSUE_TYPE } = this.config;
    const { title, description, priority } = parameters;
    return {
      project: { key: project_key },
      issuetype: { name: issue_type },
      summary: summaryOf(String(title)),
      labels: [actionId],
      ...(typeof description === 'string' && { description: documentOf(description) }),
      ...(typeof priority === 'string' && { priority: { name: summaryOf(priority) } }),
    };
  }
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

const JIRA_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    base_url: {
      type: 'string',
      format: 'uri',
      minLength: 8,
      maxLength: 2_000,
      description: 'Address of the site, such as https://example.atlassian.net.',
    },
    email: {
      type: 'string',
      pattern: '^[^\\s:@]+@[^\\s:@]+$',
      minLength: 3,
      maxLength: 320,
      description: 'Email address of the account of the token.',
    },
    api_token: {
      type: 'string',
      pattern: '^[\\x21-\\x7e]+$',
      minLength: SHORTEST_SECRET,
      maxLength: 1_000,
      writeOnly: true,
      description: 'API token of the account.',
    },
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
      default: DEFAULT_ISSUE_TYPE,
      description: 'Name of the type of new issues.',
    },
  },
  required: ['base_url', 'email', 'api_token', 'project_key'],
  additionalProperties: false,
};

@Injectable()
export class JiraType extends ConnectorType {
  readonly name = 'jira';
  readonly description = 'Jira Cloud: opens issues in one project.';
  readonly actions = ['create_ticket'] as const;
  readonly destinations = [{ address: 'base_url' }];

  readonly schema = JIRA_SCHEMA;

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  create(identity: ConnectorIdentity, config: Config): Connector {
    const calls = new VendorCalls(this.http);
    return new JiraConnector(identity, config as unknown as JiraConfig, calls);
  }
}
