import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Gate } from '../../../platform/net/gate.js';
import { listAt, textAt, valueAt } from '../../calls/answer-shape.js';
import { testResult, unlessRefused } from '../../calls/refused.error.js';
import { type ApiRequest, fixedCredentials, VendorApi } from '../../calls/vendor-api.js';
import type { VendorCalls } from '../../calls/vendor-calls.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
  TEST_TIMEOUT_MS,
} from '../../connector.port.js';
import { documentOf, summaryOf } from './jira-issue.js';

export interface JiraConfig {
  readonly base_url: string;
  readonly email: string;
  readonly api_token: string;
  readonly project_key: string;
  readonly issue_type?: string;
}

export const DEFAULT_ISSUE_TYPE = 'Task';

/** Opens issues in one project. Each carries the action's id as a label, by which it can be found again. */
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

  /** Jira opens a second issue when it is asked twice. */
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

  /**
   * The search may not know yet what was opened a moment ago. So an issue that it finds was opened, and of one that it does
   * not find nothing is known.
   */
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
