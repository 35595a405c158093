import { ACTION_TYPES, isActionType } from '../../action-catalogue/action-types.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import { secretTexts } from '../../targets/target-config.js';
import { AnswerRedactor, RefusedError } from '../calls/vendor-answers.js';
import { asClause, failureBy, urlBelow } from '../calls/vendor-api.js';
import { TEST_TIMEOUT_MS, VendorCalls, type VendorRequest } from '../calls/vendor-calls.js';
import { type ActionCall, type ActionDefinition, defineConnector } from '../connector-type.js';
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
import { referencesIn, type Scope, TemplateRenderer } from './http-templates.js';

interface HttpService {
  readonly config: HttpConfig;
  readonly text: AnswerRedactor;
  readonly calls: VendorCalls;
  readonly gate: Gate | undefined;
}

const ACTION: ActionDefinition<HttpService> = {
  send: async ({ config, text, calls, gate }, call) => {
    const action = config.actions[call.type];
    if (!action) throw new RefusedError(`${call.type} is not configured.`);
    if (!gate) throw new Error('Only a gate lets an action out.');
    const idempotent = isIdempotent(action);
    const answer = await calls.send(gate, requestFor(config, action, call), { idempotent });
    const { status } = answer;
    const message = `The service answered with status ${status}`;
    if (action.success_statuses?.includes(status) ?? (status >= 200 && status < 300)) {
      return { kind: 'done', message: `${message}.`, data: { status, answer: text.data(answer) } };
    }
    throw failureBy(status, `${message}${asClause(text.excerpt(answer))}.`);
  },
};

export const http = defineConnector({
  name: 'http',
  description:
    'Any service with an HTTP API. The request of each action type is a template with parameters, secrets and action.id.',
  config: HTTP_SCHEMA,
  problems: httpConfigProblems,
  connect: (config, outbound) => {
    const secrets = [...secretTexts(config.secrets ?? {}), ...credentialsIn(config.headers)];
    const text = new AnswerRedactor(secrets);
    const calls = new VendorCalls(outbound);
    return (gate): HttpService => ({ config, text, calls, gate });
  },
  actions: Object.fromEntries(ACTION_TYPES.map((type) => [type, ACTION])),
  provides: ({ actions }) => Object.keys(actions).filter(isActionType),
  idempotent: (config, type) => isIdempotent(config.actions[type]),
  test: async ({ config, calls }) => {
    const request = { ...testRequest(config), timeoutMs: TEST_TIMEOUT_MS };
    const { status } = await calls.send(undefined, request, { idempotent: true });
    const message = `The service answers with status ${status}.`;
    // A redirect to another scheme, host or login page would fail for every action.
    const isRedirect = status >= 300 && status < 400;
    if (isRedirect || status >= 500 || [401, 403].includes(status)) {
      throw failureBy(status, message);
    }
    return message;
  },
});

/** Builds the request of an action. Throws RefusedError if the parameters do not fit. */
export function requestFor(
  config: HttpConfig,
  action: HttpAction,
  { actionId, parameters }: Pick<ActionCall, 'actionId' | 'parameters'>,
): VendorRequest {
  const scope = { parameters, secrets: config.secrets ?? {}, action: { id: actionId } };
  const rendering = new TemplateRenderer(scope);
  const body = bodyOf(config, action, rendering);
  const isSet = (name: string): boolean => headerNamed(config.headers, name) !== undefined;
  return {
    method: action.method ?? DEFAULT_METHOD,
    url: urlBelow(config.base_url, rendering.path(action.path)),
    headers: {
      accept: 'application/json',
      'content-type': body === undefined || isSet('content-type') ? undefined : 'application/json',
      // Vendors that know the header apply a repeated request only once.
      'idempotency-key': isSet('idempotency-key') ? undefined : actionId,
      ...renderedHeaders(config.headers, rendering),
    },
    body,
  };
}

/** Builds the request of a test: GET of the base address, with the headers that need no action. */
function testRequest({ base_url, headers = {}, secrets = {} }: HttpConfig): VendorRequest {
  const scope: Scope = { parameters: {}, secrets, action: {} };
  const constant = Object.entries(headers).filter(([, value]) =>
    referencesIn(value).every(({ root }) => root === 'secrets'),
  );
  const rendering = new TemplateRenderer(scope);
  const rendered = renderedHeaders(Object.fromEntries(constant), rendering);
  return { method: 'GET', url: new URL(base_url), headers: rendered };
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
  headers: HttpConfig['headers'] = {},
  rendering: TemplateRenderer,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, rendering.header(value)]),
  );
}
