import {
  type ActionTypeName,
  ACTION_TYPES,
  isActionType,
} from '../../../action-catalogue/action-types.js';
import type { Gate, OutboundAnswer } from '../../../platform/net/outbound-request.js';
import { OutcomeUnknownError } from '../../../platform/net/net.errors.js';
import { measureTest, VendorCalls, type VendorRequest } from '../../calls/vendor-calls.js';
import { type Config, secretTexts } from '../../../targets/target-config.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
  TEST_TIMEOUT_MS,
  ConnectorType,
} from '../../connector-type.js';
import { HTTP_SCHEMA, type HttpAction, type HttpConfig, isIdempotent } from './http-config.js';
import { credentialsIn, requestFor, testRequest } from './http-request.js';
import { RenderError } from './template.js';
import { AnswerRedactor } from '../../calls/vendor-answers.js';
import type { FieldError } from '../../../platform/errors/app-error.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { httpConfigProblems } from './http-config-rules.js';
import { Injectable } from '@nestjs/common';

/** Statuses that leave the outcome of the request unknown. */
const UNCLEAR = (status: number): boolean => status === 408 || status >= 500;

export class HttpConnector extends Connector {
  private readonly text: AnswerRedactor;

  constructor(
    identity: ConnectorIdentity,
    private readonly config: HttpConfig,
    private readonly calls: VendorCalls,
  ) {
    super(identity);
    this.text = new AnswerRedactor([
      ...secretTexts(config.secrets ?? {}),
      ...credentialsIn(config.headers ?? {}),
    ]);
  }

  provides(type: ActionTypeName): boolean {
    return this.actionFor(type) !== undefined;
  }

  idempotent(type: ActionTypeName): boolean {
    const action = this.actionFor(type);
    return action !== undefined && isIdempotent(action);
  }

  async execute(call: ActionCall, gate: Gate): Promise<Outcome> {
    const action = this.actionFor(call.type);
    if (!action) return { kind: 'refused', message: `${call.type} is not configured.` };
    let request: VendorRequest;
    try {
      request = requestFor(this.config, action, call);
    } catch (error) {
      if (error instanceof RenderError) return { kind: 'refused', message: error.message };
      throw error;
    }
    const idempotent = isIdempotent(action);
    return this.read(action, await this.calls.gated(gate, request, { idempotent }));
  }

  test(): Promise<TestResult> {
    return measureTest(async () => {
      const request = { ...testRequest(this.config), timeoutMs: TEST_TIMEOUT_MS };
      const { status } = await this.calls.ungated(request);
      const message = `The service answers with status ${status}`;
      // A redirect to another scheme, host or login page would fail for every action.
      if (status >= 300 && status < 400) {
        return { success: false, message: `${message}; redirects are not followed.` };
      }
      return { success: status < 500 && status !== 401 && status !== 403, message: `${message}.` };
    });
  }

  private read({ success_statuses }: HttpAction, answer: OutboundAnswer): Outcome {
    const { status } = answer;
    const said = this.text.excerpt(answer);
    const message = `The service answered with status ${status}${said && `: ${said}`}`;
    if (success_statuses?.includes(status) ?? (status >= 200 && status < 300)) {
      const answered = this.text.data(answer);
      const data = { status, answer: answered };
      return { kind: 'done', message: `The service answered with status ${status}.`, data };
    }
    if (UNCLEAR(status)) throw new OutcomeUnknownError(message, 'broken');
    if (status >= 300 && status < 400) {
      return { kind: 'refused', message: `${message}; redirects are not followed.` };
    }
    return { kind: 'refused', message };
  }

  private actionFor(type: ActionTypeName): HttpAction | undefined {
    const { actions } = this.config;
    return Object.hasOwn(actions, type) ? actions[type] : undefined;
  }
}

@Injectable()
export class HttpType extends ConnectorType {
  readonly name = 'http';
  readonly description =
    'Any service with an HTTP API. The request of each action type is a template with parameters, secrets and action.id.';
  readonly actions = ACTION_TYPES;
  readonly schema = HTTP_SCHEMA;
  readonly destinations = [{ address: 'base_url' }];

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  override problems(config: Config, path: string): FieldError[] {
    return httpConfigProblems(config as unknown as HttpConfig, path);
  }

  override provides(config: Config): readonly ActionTypeName[] {
    return Object.keys((config as unknown as HttpConfig).actions).filter(isActionType);
  }

  create(identity: ConnectorIdentity, config: Config): Connector {
    return new HttpConnector(identity, config as unknown as HttpConfig, new VendorCalls(this.http));
  }
}
