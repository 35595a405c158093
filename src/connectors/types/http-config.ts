import {
  ACTION_TYPES,
  actionType,
  type ActionTypeName,
  isActionType,
} from '../../action-catalogue/action-types.js';
import { type FieldError, MOST_ERRORS } from '../../platform/errors/app-error.js';
import { FEW, MAX_DEPTH, sizeOf } from '../../platform/http/strict-json.js';
import { shownName } from '../../platform/text.js';
import { problemAt } from '../../targets/target-check.js';
import {
  address,
  type ConfigOf,
  fields,
  ownOf,
  SHORTEST_SECRET,
  text,
} from '../../targets/target-config.js';
import { isHeaderText, referencesIn, TemplateError } from './http-templates.js';

export const DEFAULT_METHOD = 'POST';

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
export type HttpConfig = Omit<ConfigOf<typeof HTTP_SCHEMA>, 'actions'> & {
  readonly actions: Readonly<Record<string, HttpAction>>;
};

/** Headers that Node.js sets. */
const RESERVED_HEADER =
  /^(host|content-length|transfer-encoding|connection|keep-alive|expect|upgrade|te|trailer|accept-encoding|proxy-.*)$/i;

/** Header names are case-insensitive. */
export function headerNamed(headers: HttpConfig['headers'] = {}, name: string) {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
}

export function takesForm({ headers }: HttpConfig): boolean {
  const type = headerNamed(headers, 'content-type') ?? '';
  return /^application\/x-www-form-urlencoded\b/i.test(type);
}

export function isIdempotent(action: HttpAction | undefined): boolean {
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
export function credentialsIn(headers: HttpConfig['headers'] = {}): string[] {
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

/**
 * Whether a header is named after a credential but has a value that is too short for one. Secrets of templates have
 * their own minimum.
 */
function holdsShortCredential(name: string, value: string): boolean {
  if (!CREDENTIALS.test(name) || value.includes('{{')) return false;
  const words = value.trim().split(/\s+/);
  const secret = words.filter((word) => !NO_CREDENTIAL.test(word)).join(' ');
  return secret !== '' && secret.length < SHORTEST_SECRET;
}

/** Finds faults of an `http` configuration when it is saved, not when an incident needs it. */
export function httpConfigProblems(config: HttpConfig): FieldError[] {
  const found: FieldError[] = [];
  for (const problem of problemsIn(config)) {
    if (found.push(problem) === MOST_ERRORS) break;
  }
  return found;
}

type Problems = Generator<FieldError, void>;

function* problemsIn(config: HttpConfig): Problems {
  const { headers = {}, secrets = {}, actions } = config;
  const types = Object.keys(actions).filter(isActionType);
  for (const [name, value] of Object.entries(headers)) {
    // All requests have all headers. Parameters that an action does not have are empty in them.
    yield* headerProblems(name, value, `config.headers.${name}`, { secrets, types });
  }
  const inHeaders = Object.values(headers)
    .join(' ')
    .matchAll(/\{\{\s*secrets\.(\w+)\s*\}\}/g);
  for (const name of new Set(Array.from(inHeaders, ([, secret]) => secret!))) {
    const fits = isHeaderText(ownOf(secrets, name) ?? '');
    if (!fits) yield problemAt(`config.secrets.${name}`, 'header', NO_HEADER_TEXT);
  }
  for (const type of types) {
    const field = `config.actions.${type}`;
    yield* actionProblems(actions[type]!, field, takesForm(config), { secrets, types: [type] });
  }
}

/** Names that a template may use. */
interface Names {
  readonly secrets: Readonly<Record<string, string>>;
  /** Action types whose parameters may be used. */
  readonly types: readonly ActionTypeName[];
}

const NO_HEADER_TEXT = 'has characters that a header cannot carry';

function* headerProblems(name: string, value: string, field: string, names: Names): Problems {
  if (RESERVED_HEADER.test(name)) yield problemAt(field, 'reserved', 'is set by the service');
  else if (!isHeaderText(value)) yield problemAt(field, 'header', NO_HEADER_TEXT);
  else if (holdsShortCredential(name, value)) {
    const text = `holds a secret by its name, and must have at least ${SHORTEST_SECRET} characters`;
    yield problemAt(field, 'length', text);
  } else yield* templateProblems(value, field, names);
}

function* actionProblems(
  { path, body }: HttpAction,
  field: string,
  isForm: boolean,
  names: Names,
): Problems {
  yield* templateProblems(path, `${field}.path`, names);
  // A URL parser would change a path such as `/a/../b`.
  const plain = path.replace(/\{\{.*?\}\}/gs, 'x');
  const { pathname, search, hash } = new URL(`https://vendor.invalid${plain}`);
  if (`${pathname}${search}` !== plain || hash !== '') {
    const text = 'must be a plain path, its special characters percent-encoded';
    yield problemAt(`${field}.path`, 'path', text);
  }
  const place = `${field}.body`;
  if (body === undefined) return;
  if (!isForm) yield* bodyProblems(body, place, names);
  else if (typeof body === 'string') yield* templateProblems(body, place, names);
  else yield problemAt(place, 'form', 'must be text when the content-type is a form');
}

/** The limits of request bodies apply again to JSON in a text, because they counted the text as one value. */
function* bodyProblems(body: unknown, field: string, names: Names): Problems {
  if (typeof body !== 'string') return yield* jsonProblems(body, field, names);
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    yield* templateProblems(body, field, names);
    yield problemAt(field, 'json', 'must be JSON; templates must be within its strings');
    return;
  }
  const size = sizeOf(value, FEW);
  if (size === 'too_many_values') yield problemAt(field, size, 'has too many keys or values');
  else if (size === 'too_deep') {
    yield problemAt(field, size, `is nested deeper than ${MAX_DEPTH} levels`);
  } else yield* jsonProblems(value, field, names);
}

function* jsonProblems(value: unknown, field: string, names: Names): Problems {
  if (typeof value === 'string') yield* templateProblems(value, field, names);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (key.includes('{{')) yield problemAt(field, 'template', 'has a template in a name');
    yield* jsonProblems(item, `${field}.${shownName(key)}`, names);
  }
}

/** Checks the names in a template: a secret must be set, and a parameter must belong to an action type. */
function* templateProblems(text: string, field: string, { secrets, types }: Names): Problems {
  const parameters = types.flatMap((type) => actionType(type).parameters.map(({ name }) => name));
  const [only] = types.length === 1 ? types : [];
  const noParameter = only
    ? `but ${only} has only ${parameters.join(', ')}`
    : 'which none of the actions has';
  try {
    for (const { root, name, expression, position } of referencesIn(text)) {
      const isKnown = root === 'secrets' ? Object.hasOwn(secrets, name) : parameters.includes(name);
      if (isKnown || root === 'action') continue;
      const problem = root === 'secrets' ? 'which is not set' : noParameter;
      yield problemAt(
        field,
        'template',
        `names ${expression} at character ${position}, ${problem}`,
      );
    }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    yield problemAt(field, 'template', error.message);
  }
}
