import {
  ACTION_TYPES,
  actionType,
  type ActionTypeName,
  isActionType,
} from '../../action-catalogue/action-types.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { jsonDefects, MAX_DEPTH } from '../../platform/http/strict-json.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import { shownName } from '../../platform/text.js';
import { problemAt } from '../../targets/target-check.js';
import {
  address,
  type ConfigOf,
  fields,
  secretTexts,
  SHORTEST_SECRET,
  text,
} from '../../targets/target-config.js';
import { AnswerRedactor, RefusedError } from '../calls/vendor-answers.js';
import { asClause, failureBy, urlBelow } from '../calls/vendor-api.js';
import { TEST_TIMEOUT_MS, VendorCalls, type VendorRequest } from '../calls/vendor-calls.js';
import { type ActionCall, type ActionDefinition, defineConnector } from '../connector-type.js';
import {
  isHeaderText,
  referencesIn,
  type Scope,
  templateFault,
  TemplateRenderer,
} from './http-templates.js';

const DEFAULT_METHOD = 'POST';

const TEMPLATES = [
  'A template is text with `{{ parameters.<name> }}` (a parameter of the action, see `GET /api/actions/types`), `{{ secrets.<name> }}` (an entry of `secrets`) or `{{ action.id }}`. There are no other expressions.',
  'Values are escaped for their place: a path segment, a value of a query or form, or a JSON string. In a JSON body, a string that consists of one reference becomes the value itself, such as a list. It is omitted with its key if there is no value.',
  'Saving a connector with an unknown parameter or secret in a template fails (code template).',
].join('\n');

const ACTION = fields(
  {
    method: {
      type: 'string',
      enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      maxLength: 6,
      default: DEFAULT_METHOD,
    },
    path: text('Template. Values are escaped as a path segment or a query value.', {
      pattern: '^/([^/]|$)',
      maxLength: 2_000,
    }),
    body: {
      type: ['object', 'string'],
      description:
        'Template: an object, JSON as text, or a form as text if the content-type header is a form.',
    },
    success_statuses: {
      type: 'array',
      items: { type: 'integer', minimum: 200, maximum: 599 },
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      description: 'Default: every 2xx.',
    },
    idempotent: {
      type: 'boolean',
      description:
        'Whether sending the request twice has the same effect as once, so that it may be repeated if its outcome is unknown. By default only for GET.',
    },
  },
  ['path'],
  `Request of an action. Its path and the values of its body are templates.\n\n${TEMPLATES}`,
);

const CONFIG = fields(
  {
    base_url: address(
      'Base of every path. An address of a private network must be in ALLOWED_PRIVATE_TARGETS.',
      { minLength: 8 },
    ),
    headers: {
      type: 'object',
      propertyNames: { pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" },
      additionalProperties: { type: 'string', maxLength: 8_000 },
      maxProperties: 30,
      writeOnly: true,
      'x-ignore-case': true,
      description:
        'Sent with every request. Values are templates, such as `Bearer {{ secrets.token }}`. Parameters that an action does not have are empty. Names are case-insensitive.',
    },
    secrets: {
      type: 'object',
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$' },
      additionalProperties: { type: 'string', minLength: SHORTEST_SECRET, maxLength: 8_000 },
      maxProperties: 30,
      writeOnly: true,
      description:
        'Secrets for templates, as secrets.<name>. At least 8 characters each: shorter ones cannot be masked safely.',
    },
    actions: {
      type: 'object',
      propertyNames: { enum: ACTION_TYPES },
      additionalProperties: ACTION,
      minProperties: 1,
      maxProperties: ACTION_TYPES.length,
      description: 'Provided action types, with the request of each.',
    },
  },
  ['base_url', 'actions'],
  `Connects any tool with an HTTP API: an address, headers, and a request for each action.\n\n${TEMPLATES}`,
);

/** Defaults within `actions` are not filled in. */
export type HttpAction = Partial<ConfigOf<typeof ACTION>> & { readonly path: string };
export type HttpConfig = Omit<ConfigOf<typeof CONFIG>, 'actions'> & {
  readonly actions: Readonly<Record<string, HttpAction>>;
};

interface HttpService {
  readonly config: HttpConfig;
  readonly text: AnswerRedactor;
  readonly calls: VendorCalls;
  readonly gate: Gate | undefined;
}

const SEND: ActionDefinition<HttpService> = {
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
  config: CONFIG,
  problems: problemsIn,
  connect: (config, outbound) => {
    const secrets = [...secretTexts(config.secrets ?? {}), ...credentialsIn(config.headers)];
    const text = new AnswerRedactor(secrets);
    const calls = new VendorCalls(outbound);
    return (gate): HttpService => ({ config, text, calls, gate });
  },
  actions: Object.fromEntries(ACTION_TYPES.map((type) => [type, SEND])),
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

/** Headers that Node.js sets. */
const RESERVED_HEADER =
  /^(host|content-length|transfer-encoding|connection|keep-alive|expect|upgrade|te|trailer|accept-encoding|proxy-.*)$/i;

function headerNamed(headers: HttpConfig['headers'] = {}, name: string) {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function takesForm({ headers }: HttpConfig): boolean {
  const type = headerNamed(headers, 'content-type') ?? '';
  return /^application\/x-www-form-urlencoded\b/i.test(type);
}

function isIdempotent(action: HttpAction | undefined): boolean {
  return action?.idempotent ?? action?.method === 'GET';
}

const NO_CREDENTIALS = new Set(['accept', 'content-type', 'user-agent']);
const NO_CREDENTIAL = /^(basic|bearer|digest|negotiate|apikey)$/i;
/**
 * Values of headers with these names are secret even if they are short. In other headers short words are ordinary
 * words.
 */
const CREDENTIALS = /auth|cookie|credential|key|pass|pin|secret|session|sign|token/i;
const SHORTEST_WORD = 6;

/**
 * Texts in headers that may be secrets: the whole value, its words (`Bearer <token>`) and assigned values
 * (`id=<token>`).
 */
function credentialsIn(headers: HttpConfig['headers'] = {}): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (NO_CREDENTIALS.has(name.toLowerCase())) return [];
    const plain = value.replace(/\{\{.*?\}\}/gs, ' ').trim();
    const words = plain.split(/\s+/);
    const assigned = words.map((word) => /=(.*?)[";,]*$/.exec(word)?.[1]?.replace(/^"/, '') ?? '');
    const shortest = CREDENTIALS.test(name) ? 1 : SHORTEST_WORD;
    return [plain, ...words, ...assigned]
      .filter((text) => text.length >= shortest)
      .filter((text) => /[\p{L}\p{N}]/u.test(text) && !NO_CREDENTIAL.test(text));
  });
}

/** Finds faults of an `http` configuration when it is saved, not when an incident needs it. */
function problemsIn(config: HttpConfig): FieldError[] {
  const { headers = {}, secrets = {}, actions } = config;
  const types = Object.keys(actions).filter(isActionType);
  const known = (...some: ActionTypeName[]) => ({
    secrets: Object.keys(secrets),
    action: ['id'],
    parameters: some.flatMap((type) => actionType(type).parameters.map(({ name }) => name)),
  });
  // All requests have all headers. Parameters that an action does not have are empty in them.
  const ofHeaders = Object.entries(headers).flatMap(([name, value]) => {
    const field = `config.headers.${name}`;
    if (RESERVED_HEADER.test(name)) return [problemAt(field, 'reserved', 'is set by the service')];
    if (isHeaderText(value)) return templateProblems(value, field, known(...types));
    return [problemAt(field, 'header', 'has characters that a header cannot carry')];
  });
  const ofActions = types.flatMap((type) =>
    actionProblems(actions[type]!, `config.actions.${type}`, takesForm(config), known(type)),
  );
  return [...ofHeaders, ...ofActions];
}

type KnownNames = Parameters<typeof templateFault>[1];

function actionProblems(
  { path, body }: HttpAction,
  field: string,
  isForm: boolean,
  known: KnownNames,
): FieldError[] {
  const found = templateProblems(path, `${field}.path`, known);
  // A URL parser would change a path such as `/a/../b`.
  const plain = path.replace(/\{\{.*?\}\}/gs, 'x');
  const { pathname, search, hash } = new URL(`https://vendor.invalid${plain}`);
  if (`${pathname}${search}` !== plain || hash !== '') {
    const text = 'must be a plain path, its special characters percent-encoded';
    found.push(problemAt(`${field}.path`, 'path', text));
  }
  return [...found, ...bodyProblems(body, `${field}.body`, isForm, known)];
}

/** The limits of request bodies apply again to JSON in a text, because they counted the text as one value. */
function bodyProblems(
  body: HttpAction['body'],
  field: string,
  isForm: boolean,
  known: KnownNames,
): FieldError[] {
  if (typeof body !== 'string') {
    if (!isForm || body === undefined) return jsonProblems(body, field, known);
    return [problemAt(field, 'form', 'must be text when the content-type is a form')];
  }
  if (isForm) return templateProblems(body, field, known);
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return [problemAt(field, 'json', 'must be JSON; templates must be within its strings')];
  }
  const large = jsonDefects(value).find(({ code }) => code.startsWith('too_'));
  if (!large) return jsonProblems(value, field, known);
  return [problemAt(field, large.code, `has too many values or more than ${MAX_DEPTH} levels`)];
}

function jsonProblems(value: unknown, field: string, known: KnownNames): FieldError[] {
  if (typeof value === 'string') return templateProblems(value, field, known);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [
    ...(key.includes('{{') ? [problemAt(field, 'template', 'has a template in a name')] : []),
    ...jsonProblems(item, `${field}.${shownName(key)}`, known),
  ]);
}

function templateProblems(text: string, field: string, known: KnownNames): FieldError[] {
  const fault = templateFault(text, known);
  return fault === undefined ? [] : [problemAt(field, 'template', fault)];
}
