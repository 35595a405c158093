import {
  ACTION_TYPES,
  actionType,
  type ActionTypeName,
  isActionType,
} from '../../action-catalogue/action-types.js';
import { type FieldError, MOST_ERRORS } from '../../platform/errors/app-error.js';
import { FEW, MAX_DEPTH, sizeOf } from '../../platform/http/strict-json.js';
import { shownName, shownStart } from '../../platform/text.js';
import { address, fields, SHORTEST_SECRET } from '../../targets/target-config.js';
import {
  isHeaderText,
  parseTemplate,
  type Reference,
  referencesIn,
  TemplateError,
} from './http-templates.js';

export interface HttpAction {
  readonly method?: string;
  readonly path: string;
  readonly body?: Record<string, unknown> | string;
  readonly success_statuses?: readonly number[];
  readonly idempotent?: boolean;
}

export interface HttpConfig {
  readonly base_url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly actions: Readonly<Partial<Record<ActionTypeName, HttpAction>>>;
}

export const DEFAULT_METHOD = 'POST';

const TEMPLATES = [
  'A template is text with `{{ parameters.<name> }}` (a parameter of the action, see `GET /api/actions/types`), `{{ secrets.<name> }}` (an entry of `secrets`) or `{{ action.id }}`. There are no other expressions.',
  'Values are escaped for their place: a path segment, a value of a query or form, or a JSON string. In a JSON body, a string that consists of one reference becomes the value itself, such as a list. It is omitted with its key if there is no value.',
  'Saving a connector with an unknown parameter or secret in a template fails (code template).',
].join('\n');

export const HTTP_SCHEMA = fields(
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
      additionalProperties: {
        type: 'object',
        description: `Request of an action. Its path and the values of its body are templates.\n\n${TEMPLATES}`,
        properties: {
          method: {
            type: 'string',
            enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
            maxLength: 6,
            default: DEFAULT_METHOD,
          },
          path: {
            type: 'string',
            pattern: '^/([^/]|$)',
            maxLength: 2_000,
            description: 'Template. Values are escaped as a path segment or a query value.',
          },
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
        required: ['path'],
        additionalProperties: false,
      },
      minProperties: 1,
      maxProperties: ACTION_TYPES.length,
      description: 'Provided action types, with the request of each.',
    },
  },
  ['base_url', 'actions'],
  `Connects any tool with an HTTP API: an address, headers, and a request for each action.\n\n${TEMPLATES}`,
);

/** Headers that Node.js sets. */
const RESERVED_HEADERS = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'accept-encoding',
]);

export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return RESERVED_HEADERS.has(lower) || lower.startsWith('proxy-');
}

/** Header names are case-insensitive. */
export function headerNamed(
  headers: Readonly<Record<string, string>> | undefined,
  name: string,
): string | undefined {
  const entry = Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name);
  return entry?.[1];
}

export function takesForm(config: HttpConfig): boolean {
  const type = headerNamed(config.headers, 'content-type') ?? '';
  return /^application\/x-www-form-urlencoded\b/i.test(type);
}

export function isIdempotent({ method = DEFAULT_METHOD, idempotent }: HttpAction): boolean {
  return idempotent ?? method === 'GET';
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
export function credentialsIn(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => credentialsOf(name, value));
}

/**
 * Whether a header is named after a credential but has a value that is too short for one. Secrets of templates have
 * their own minimum.
 */
export function holdsShortCredential(name: string, value: string): boolean {
  if (!CREDENTIALS.test(name) || value.includes('{{')) return false;
  const words = value.trim().split(/\s+/);
  const secret = words.filter((word) => !NO_CREDENTIAL.test(word)).join(' ');
  return secret !== '' && secret.length < SHORTEST_SECRET;
}

function credentialsOf(name: string, value: string): string[] {
  if (NO_CREDENTIALS.has(name.toLowerCase())) return [];
  const plain = value.replace(/\{\{.*?\}\}/gs, ' ').trim();
  const words = plain.split(/\s+/);
  const assigned = words.map((word) => /=(.*?)[";,]*$/.exec(word)?.[1]?.replace(/^"/, '') ?? '');
  const shortest = CREDENTIALS.test(name) ? 1 : SHORTEST_WORD;
  return [plain, ...words, ...assigned]
    .filter((text) => text.length >= shortest)
    .filter((text) => /[\p{L}\p{N}]/u.test(text) && !NO_CREDENTIAL.test(text));
}

const TOO_SHORT = `holds a secret by its name, and must have at least ${SHORTEST_SECRET} characters`;
const NO_HEADER_TEXT = 'has characters that a header cannot carry';

/** Finds faults of an `http` configuration when it is saved, not when an incident needs it. */
export function httpConfigProblems(config: HttpConfig, path: string): FieldError[] {
  const secrets = new Set(Object.keys(config.secrets ?? {}));
  const types = Object.keys(config.actions).filter(isActionType);
  // All requests have all headers. Parameters that an action does not have are empty in them.
  const shared = new Templates(secrets, types);
  return [
    ...Object.entries(config.headers ?? {}).flatMap(([name, value]) =>
      headerProblems(name, value, `${path}.headers.${name}`, shared),
    ),
    ...headerSecretProblems(config, `${path}.secrets`),
    ...types.flatMap((type) =>
      actionProblems(
        config.actions[type]!,
        takesForm(config),
        `${path}.actions.${type}`,
        new Templates(secrets, [type]),
      ),
    ),
  ];
}

function headerProblems(
  name: string,
  value: string,
  field: string,
  templates: Templates,
): FieldError[] {
  if (isReservedHeader(name)) return [problem(field, 'reserved', 'is set by the service')];
  if (!isHeaderText(value)) return [problem(field, 'header', NO_HEADER_TEXT)];
  if (holdsShortCredential(name, value)) return [problem(field, 'length', TOO_SHORT)];
  return templates.problems(value, field);
}

/** Secrets in headers that a header cannot carry, for example with a pasted line end. */
function headerSecretProblems(
  { headers = {}, secrets = {} }: HttpConfig,
  path: string,
): FieldError[] {
  const named = new Set(Object.values(headers).flatMap(secretsNamedIn));
  return Object.entries(secrets)
    .filter(([name, value]) => named.has(name) && !isHeaderText(value))
    .map(([name]) => problem(`${path}.${name}`, 'header', NO_HEADER_TEXT));
}

/** Empty for an invalid template, which headerProblems reports. */
function secretsNamedIn(text: string): string[] {
  try {
    return referencesIn(parseTemplate(text))
      .filter(({ root }) => root === 'secrets')
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function actionProblems(
  action: HttpAction,
  form: boolean,
  field: string,
  templates: Templates,
): FieldError[] {
  const path = `${field}.path`;
  return [
    ...templates.problems(action.path, path),
    ...pathProblems(action.path, path),
    ...(action.body === undefined ? [] : bodyProblems(action.body, form, field, templates)),
  ];
}

/** Rejects a path that a URL parser would change, such as `/a/../b`. */
function pathProblems(text: string, field: string): FieldError[] {
  const plain = text.replace(/\{\{.*?\}\}/gs, 'x');
  const { pathname, search, hash } = new URL(`https://vendor.invalid${plain}`);
  return `${pathname}${search}` === plain && hash === ''
    ? []
    : [problem(field, 'path', 'must be a plain path, its special characters percent-encoded')];
}

function bodyProblems(
  body: Record<string, unknown> | string,
  form: boolean,
  field: string,
  templates: Templates,
): FieldError[] {
  const place = `${field}.body`;
  if (form && typeof body === 'string') return templates.problems(body, place);
  if (form) return [problem(place, 'form', 'must be text when the content-type is a form')];
  return typeof body === 'string'
    ? jsonTextProblems(body, place, templates)
    : jsonProblems(body, place, templates);
}

/** JSON in a text. The limits of request bodies apply again, because they counted the text as one value. */
function jsonTextProblems(text: string, field: string, templates: Templates): FieldError[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const json = problem(field, 'json', 'must be JSON; templates must be within its strings');
    return [...templates.problems(text, field), json];
  }
  const size = sizeOf(value, FEW);
  if (size === 'too_many_values') return [problem(field, size, 'has too many keys or values')];
  if (size === 'too_deep')
    return [problem(field, size, `is nested deeper than ${MAX_DEPTH} levels`)];
  return jsonProblems(value, field, templates);
}

function jsonProblems(
  value: unknown,
  field: string,
  templates: Templates,
  found: FieldError[] = [],
): FieldError[] {
  if (found.length >= MOST_ERRORS) return found;
  if (typeof value === 'string') found.push(...templates.problems(value, field));
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, item] of Object.entries(value)) {
    if (key.includes('{{')) found.push(problem(field, 'template', 'has a template in a name'));
    jsonProblems(item, `${field}.${shownName(key)}`, templates, found);
  }
  return found;
}

/** Checks the names in templates: a secret must be set, and a parameter must belong to the action types. */
class Templates {
  private readonly declared: readonly string[];

  constructor(
    private readonly secrets: ReadonlySet<string>,
    private readonly types: readonly ActionTypeName[],
  ) {
    this.declared = types.flatMap((type) => actionType(type).parameters.map(({ name }) => name));
  }

  problems(text: string, field: string): FieldError[] {
    try {
      const unknown = referencesIn(parseTemplate(text)).filter((one) => !this.knows(one));
      return unknown.slice(0, MOST_ERRORS).map((reference) => {
        const { expression, position } = reference;
        const found = `names ${expression} at character ${position}, ${this.missing(reference)}`;
        return problem(field, 'template', found);
      });
    } catch (error) {
      if (error instanceof TemplateError) return [problem(field, 'template', error.message)];
      throw error;
    }
  }

  private knows({ root, name }: Reference): boolean {
    if (root === 'secrets') return this.secrets.has(name);
    return root === 'action' || this.declared.includes(name);
  }

  private missing({ root }: Reference): string {
    if (root === 'secrets') return 'which is not set';
    return this.types.length === 1
      ? `but ${this.types[0]} has only ${this.declared.join(', ')}`
      : 'which none of the actions has';
  }
}

function problem(path: string, code: string, text: string): FieldError {
  const field = shownStart(path, 200);
  return { field, code, message: `${field} ${text}.` };
}
