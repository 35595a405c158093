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
  optional,
  secretTexts,
  SHORTEST_SECRET,
  text,
} from '../../targets/target-config.js';
import { AnswerRedactor, RefusedError } from '../calls/vendor-answers.js';
import { asClause, failureBy, urlBelow } from '../calls/vendor-api.js';
import { type Outbound, VendorCalls, type VendorRequest } from '../calls/vendor-calls.js';
import {
  type ActionCall,
  type ActionDefinition,
  defineConnector,
  done,
} from '../connector-type.js';
import {
  filledForm,
  filledHeader,
  filledJson,
  filledPath,
  isHeaderText,
  templateFault,
} from './http-templates.js';

const DEFAULT_METHOD = 'POST';

const TEMPLATES =
  'A template is text with `{{ parameters.<name> }}` (a parameter of the action, see `GET /api/actions/types`), `{{ secrets.<name> }}` (an entry of `secrets`) or `{{ action.id }}`. Unknown names are rejected (code template). Values are escaped for their place. In a JSON body, a string that is one template becomes the value of the template, for example a list. If there is no value, the string is omitted together with its key.';

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
    body: optional({
      type: ['object', 'string'],
      description:
        'Template of the body: an object, JSON text, or the text of a form if the header content-type names a form.',
    }),
    success_statuses: optional({
      type: 'array',
      items: { type: 'integer', minimum: 200, maximum: 599 },
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      description: 'Default: every 2xx.',
    }),
    idempotent: optional({
      type: 'boolean',
      description:
        'Whether sending the request twice has the same effect as once, so that it may be repeated if its outcome is unknown. By default only for GET.',
    }),
  },
  `Request of an action. Its path and the values of its body are templates.\n\n${TEMPLATES}`,
);

const CONFIG = fields(
  {
    base_url: address(
      'Base of every path. An address of a private network must be in ALLOWED_PRIVATE_TARGETS.',
    ),
    headers: optional({
      type: 'object',
      propertyNames: { pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" },
      additionalProperties: { type: 'string', maxLength: 8_000 },
      maxProperties: 30,
      writeOnly: true,
      'x-ignore-case': true,
      description:
        'Sent with every request. Values are templates, such as `Bearer {{ secrets.token }}`. Parameters that an action does not have are empty. Names are case-insensitive.',
    }),
    secrets: optional({
      type: 'object',
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$' },
      additionalProperties: { type: 'string', minLength: SHORTEST_SECRET, maxLength: 8_000 },
      maxProperties: 30,
      writeOnly: true,
      description:
        'Secrets for templates, as secrets.<name>. At least 8 characters each: shorter secrets cannot be masked safely.',
    }),
    actions: {
      type: 'object',
      propertyNames: { enum: ACTION_TYPES },
      additionalProperties: ACTION,
      minProperties: 1,
      maxProperties: ACTION_TYPES.length,
      description: 'Provided action types, with the request of each.',
    },
  },
  `Connects any tool with an HTTP API: an address, headers, and a request for each action.\n\n${TEMPLATES}`,
);

/** Validation does not fill in the defaults within `actions`, so every property except `path` may be missing. */
export type HttpAction = Partial<ConfigOf<typeof ACTION>> & { readonly path: string };
export type HttpConfig = Partial<Omit<ConfigOf<typeof CONFIG>, 'actions'>> & {
  readonly base_url: string;
  readonly actions: Readonly<Record<string, HttpAction>>;
};

function connect(config: HttpConfig, outbound: Outbound) {
  const secrets = [...secretTexts(config.secrets ?? {}), ...credentialsIn(config.headers)];
  const text = new AnswerRedactor(secrets);
  const calls = new VendorCalls(outbound);
  return (gate?: Gate) => ({ config, text, calls, gate });
}

const SEND: ActionDefinition<ReturnType<ReturnType<typeof connect>>> = {
  send: async ({ config, text, calls, gate }, call) => {
    const action = config.actions[call.type];
    if (!action || !gate) throw new RefusedError(`${call.type} is not configured.`);
    const idempotent = isIdempotent(action);
    const answer = await calls.send(gate, requestFor(config, action, call), { idempotent });
    const { status } = answer;
    const message = `The service answered with status ${status}`;
    if (action.success_statuses?.includes(status) ?? (status >= 200 && status < 300)) {
      return done(`${message}.`, { status, answer: text.data(answer) });
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
  connect,
  actions: Object.fromEntries(ACTION_TYPES.map((type) => [type, SEND])),
  provides: ({ actions }) => Object.keys(actions).filter(isActionType),
  idempotent: (config, type) => isIdempotent(config.actions[type]),
  test: async ({ config: { base_url, headers, secrets = {} }, calls }) => {
    const sent = headersOf(headers, { parameters: {}, secrets, action: {} });
    const request = { method: 'GET', url: new URL(base_url), headers: sent };
    const { status } = await calls.send(undefined, request, { idempotent: true });
    const message = `The service answers with status ${status}.`;
    // A redirect would fail for every action: it leads to another scheme, host or login page.
    const isRedirect = status >= 300 && status < 400;
    const isFailure = isRedirect || status >= 500 || [401, 403].includes(status);
    if (isFailure) throw failureBy(status, message);
    return message;
  },
});

export function requestFor(
  config: HttpConfig,
  { method = DEFAULT_METHOD, path, body: template }: HttpAction,
  { actionId, parameters }: Pick<ActionCall, 'actionId' | 'parameters'>,
): VendorRequest {
  const { base_url, headers, secrets = {} } = config;
  const scope = { parameters, secrets, action: { id: actionId } };
  const json = (value: unknown) => JSON.stringify(filledJson(value, scope));
  const ofText = (text: string) =>
    takesForm(config) ? filledForm(text, scope) : json(JSON.parse(text));
  const body = typeof template === 'string' ? ofText(template) : template && json(template);
  const unlessSet = (name: string, value: string) =>
    headerNamed(headers, name) === undefined ? { [name]: value } : {};
  return {
    method,
    url: urlBelow(base_url, filledPath(path, scope)),
    headers: {
      accept: 'application/json',
      ...(body !== undefined && unlessSet('content-type', 'application/json')),
      // Vendors that support the header execute a repeated request only once.
      ...unlessSet('idempotency-key', actionId),
      ...headersOf(headers, scope),
    },
    body,
  };
}

function headersOf(headers: HttpConfig['headers'] = {}, scope: Parameters<typeof filledHeader>[1]) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, filledHeader(value, scope)]),
  );
}

const RESERVED_HEADER =
  /^(host|content-length|transfer-encoding|connection|keep-alive|expect|upgrade|te|trailer|accept-encoding|proxy-.*)$/i;

function headerNamed(headers: HttpConfig['headers'] = {}, name: string) {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

function takesForm({ headers }: HttpConfig): boolean {
  const type = headerNamed(headers, 'content-type') ?? '';
  return /^application\/x-www-form-urlencoded\b/i.test(type);
}

const isIdempotent = (action: HttpAction | undefined): boolean =>
  action?.idempotent ?? action?.method === 'GET';

const NO_CREDENTIALS = /^(accept|content-type|user-agent)$/i;
const NO_CREDENTIAL = /^(basic|bearer|digest|negotiate|apikey|[^\p{L}\p{N}]*)$/iu;
/** Headers whose short words may also be secrets. In other headers, a short word is not a secret. */
const CREDENTIALS = /auth|cookie|credential|key|pass|pin|secret|session|sign|token/i;
const SHORTEST_WORD = 6;

/** Returns texts in headers that may be secrets: the value, its words (`Bearer <token>`) and assigned values (`id=<token>`). */
function credentialsIn(headers: HttpConfig['headers'] = {}): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (NO_CREDENTIALS.test(name)) return [];
    const plain = value.replace(/\{\{.*?\}\}/gs, ' ').trim();
    const words = plain.split(/\s+/);
    const assigned = words.map((word) => /=(.*?)[";,]*$/.exec(word)?.[1]?.replace(/^"/, '') ?? '');
    const shortest = CREDENTIALS.test(name) ? 1 : SHORTEST_WORD;
    return [plain, ...words, ...assigned].filter(
      (text) => text.length >= shortest && !NO_CREDENTIAL.test(text),
    );
  });
}

function problemsIn(config: HttpConfig): FieldError[] {
  const { headers = {}, secrets = {}, actions } = config;
  const isForm = takesForm(config);
  const found: FieldError[] = [];
  const report = (...problem: Parameters<typeof problemAt>) =>
    void found.push(problemAt(...problem));
  const check = (value: unknown, field: string, ...types: readonly ActionTypeName[]): void => {
    if (typeof value === 'string') {
      const parameters = types.flatMap((type) =>
        actionType(type).parameters.map(({ name }) => name),
      );
      const known = { secrets: Object.keys(secrets), action: ['id'], parameters };
      const fault = templateFault(value, known);
      if (fault !== undefined) report(field, 'template', fault);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        if (key.includes('{{')) report(field, 'template', 'has a template in a name');
        check(item, `${field}.${shownName(key)}`, ...types);
      }
    }
  };
  const types = Object.keys(actions).filter(isActionType);
  for (const [name, value] of Object.entries(headers)) {
    const field = `config.headers.${name}`;
    if (RESERVED_HEADER.test(name)) report(field, 'reserved', 'is set by the service');
    else if (isHeaderText(value)) check(value, field, ...types);
    else report(field, 'header', 'has characters that a header cannot carry');
  }
  for (const type of types) {
    const { path, body } = actions[type]!;
    const [ofPath, ofBody] = [`config.actions.${type}.path`, `config.actions.${type}.body`];
    check(path, ofPath, type);
    if (!isPlainPath(path)) {
      report(ofPath, 'path', 'must be a plain path, its special characters percent-encoded');
    }
    const json = typeof body === 'string' && !isForm ? jsonIn(body) : body;
    // Checks JSON that is sent as text. The limits of request bodies counted this JSON as one value.
    const large = jsonDefects(json).find(({ code }) => code.startsWith('too_'));
    if (isForm && typeof body === 'object') {
      report(ofBody, 'form', 'must be text when the content-type is a form');
    } else if (body !== undefined && json === undefined) {
      report(ofBody, 'json', 'must be JSON; templates must be within its strings');
    } else if (large) {
      report(ofBody, large.code, `has too many values or more than ${MAX_DEPTH} levels`);
    } else check(json, ofBody, type);
  }
  return found;
}

function isPlainPath(path: string): boolean {
  const plain = path.replace(/\{\{.*?\}\}/gs, 'x');
  const { pathname, search, hash } = new URL(`https://vendor.invalid${plain}`);
  return `${pathname}${search}` === plain && hash === '';
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
