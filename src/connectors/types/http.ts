import {
  ACTION_TYPES,
  type ActionTypeName,
  isActionType,
} from '../../action-catalogue/action-types.js';
import { OutcomeUnknownError } from '../../platform/net/net.errors.js';
import type { Gate, OutboundAnswer } from '../../platform/net/outbound-request.js';
import { secretTexts } from '../../targets/target-config.js';
import { AnswerRedactor, RefusedError } from '../calls/vendor-answers.js';
import { VendorCalls, type VendorRequest } from '../calls/vendor-calls.js';
import {
  type ActionCall,
  defineConnector,
  type Outcome,
  TEST_TIMEOUT_MS,
} from '../connector-type.js';
import {
  credentialsIn,
  DEFAULT_METHOD,
  headerNamed,
  HTTP_SCHEMA,
  type HttpAction,
  type HttpConfig,
  httpConfigProblems,
  isIdempotent,
  takesForm,
} from './http-config.js';
import {
  parseTemplate,
  referencesIn,
  RenderError,
  type Scope,
  TemplateRenderer,
} from './http-templates.js';

export const http = defineConnector({
  name: 'http',
  description:
    'Any service with an HTTP API. The request of each action type is a template with parameters, secrets and action.id.',
  config: HTTP_SCHEMA,
  destinations: [{ address: 'base_url' }],
  problems: (config, path) => httpConfigProblems(config as unknown as HttpConfig, path),
  connect: (config, outbound) =>
    new HttpService(config as unknown as HttpConfig, new VendorCalls(outbound)),
  actions: Object.fromEntries(ACTION_TYPES.map((type) => [type, { idempotent: false, send }])),
  provides: (config) => Object.keys((config as unknown as HttpConfig).actions).filter(isActionType),
  idempotent: (service, type) => {
    const action = service.actionFor(type);
    return action !== undefined && isIdempotent(action);
  },
  test: (service) => service.test(),
});

function send(service: HttpService, call: ActionCall, gate: Gate): Promise<Outcome> {
  return service.send(call, gate);
}

class HttpService {
  private readonly text: AnswerRedactor;

  constructor(
    private readonly config: HttpConfig,
    private readonly calls: VendorCalls,
  ) {
    this.text = new AnswerRedactor([
      ...secretTexts(config.secrets ?? {}),
      ...credentialsIn(config.headers ?? {}),
    ]);
  }

  actionFor(type: ActionTypeName): HttpAction | undefined {
    const { actions } = this.config;
    return Object.hasOwn(actions, type) ? actions[type] : undefined;
  }

  async send(call: ActionCall, gate: Gate): Promise<Outcome> {
    const action = this.actionFor(call.type);
    if (!action) throw new RefusedError(`${call.type} is not configured.`);
    let request: VendorRequest;
    try {
      request = requestFor(this.config, action, call);
    } catch (error) {
      if (error instanceof RenderError) throw new RefusedError(error.message);
      throw error;
    }
    const idempotent = isIdempotent(action);
    return this.outcomeOf(action, await this.calls.gated(gate, request, { idempotent }));
  }

  async test(): Promise<string> {
    const request = { ...testRequest(this.config), timeoutMs: TEST_TIMEOUT_MS };
    const { status } = await this.calls.ungated(request);
    const message = `The service answers with status ${status}`;
    // A redirect to another scheme, host or login page would fail for every action.
    if (status >= 300 && status < 400) {
      throw new RefusedError(`${message}; redirects are not followed.`);
    }
    if (status >= 500 || status === 401 || status === 403) throw new RefusedError(`${message}.`);
    return `${message}.`;
  }

  private outcomeOf({ success_statuses }: HttpAction, answer: OutboundAnswer): Outcome {
    const { status } = answer;
    const answered = `The service answered with status ${status}`;
    if (success_statuses?.includes(status) ?? (status >= 200 && status < 300)) {
      const data = { status, answer: this.text.data(answer) };
      return { kind: 'done', message: `${answered}.`, data };
    }
    const said = this.text.excerpt(answer);
    const message = `${answered}${said && `: ${said}`}`;
    if (status === 408 || status >= 500) throw new OutcomeUnknownError(message, 'broken');
    if (status >= 300 && status < 400) {
      throw new RefusedError(`${message}; redirects are not followed.`);
    }
    throw new RefusedError(message);
  }
}

/** Builds the request of an action. Throws RenderError if the parameters do not fit. */
export function requestFor(
  config: HttpConfig,
  action: HttpAction,
  { actionId, parameters }: Pick<ActionCall, 'actionId' | 'parameters'>,
): VendorRequest {
  const scope: Scope = { parameters, secrets: config.secrets ?? {}, action: { id: actionId } };
  const rendering = new TemplateRenderer(scope);
  const body = bodyOf(config, action, rendering);
  const isSet = (name: string): boolean => headerNamed(config.headers, name) !== undefined;
  return {
    method: action.method ?? DEFAULT_METHOD,
    url: addressOf(config, rendering.path(action.path)),
    headers: {
      accept: 'application/json',
      'content-type': body === undefined || isSet('content-type') ? undefined : 'application/json',
      // Vendors that know the header apply a repeated request only once.
      'idempotency-key': isSet('idempotency-key') ? undefined : actionId,
      ...renderedHeaders(config, rendering),
    },
    body,
  };
}

/** Builds the request of a test: GET of the base address, with the headers that need no action. */
export function testRequest(config: HttpConfig): VendorRequest {
  const scope: Scope = { parameters: {}, secrets: config.secrets ?? {}, action: {} };
  const constant = Object.entries(config.headers ?? {}).filter(([, value]) =>
    referencesIn(parseTemplate(value)).every(({ root }) => root === 'secrets'),
  );
  return {
    method: 'GET',
    url: new URL(config.base_url),
    headers: renderedHeaders(
      { ...config, headers: Object.fromEntries(constant) },
      new TemplateRenderer(scope),
    ),
  };
}

function addressOf({ base_url }: HttpConfig, path: string): URL {
  const base = new URL(base_url);
  const address = new URL(`${base.origin}${base.pathname.replace(/\/$/, '')}${path}`);
  // The rules for paths and templates exclude this already. A mistake there must not send anything to another host.
  if (address.origin !== base.origin) throw new Error('A rendered path leads to another host.');
  return address;
}

function bodyOf(
  config: HttpConfig,
  { body }: HttpAction,
  rendering: TemplateRenderer,
): string | undefined {
  if (body === undefined) return undefined;
  if (typeof body !== 'string') return rendering.json(body);
  return takesForm(config) ? rendering.form(body) : rendering.json(JSON.parse(body));
}

function renderedHeaders(
  { headers = {} }: HttpConfig,
  rendering: TemplateRenderer,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, rendering.header(value)]),
  );
}
