import { ACTION_TYPES, type ActionTypeName } from '../../../action-catalogue/action-types.js';
import { SHORTEST_SECRET, type ConfigSchema } from '../../config/config-schema.js';

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
  'A template is text with `{{ parameters.<name> }}` (a parameter of the action, see `GET /api/actions/types`), `{{ secrets.<name> }}` (an entry of `secrets`) or `{{ action.id }}` in it, and nothing else is computed.',
  'A value is escaped for its place: one segment of a path, one value of a query or form, a string of JSON. In a body of JSON a string that is one reference becomes the value itself, a list for instance, and is left out with its key when there is none.',
  'When the connector is saved a name that is no parameter of the action, or no entry of `secrets`, is refused (code template).',
].join('\n');

export const HTTP_SCHEMA: ConfigSchema = {
  type: 'object',
  description: `What a connector of any tool with an API has to know: an address, headers, and a request for each action.\n\n${TEMPLATES}`,
  properties: {
    base_url: {
      type: 'string',
      format: 'uri',
      minLength: 8,
      maxLength: 2_000,
      description:
        'Where every path begins. An address of a private network has to be in ALLOWED_PRIVATE_TARGETS.',
    },
    headers: {
      type: 'object',
      propertyNames: { pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" },
      additionalProperties: { type: 'string', maxLength: 8_000 },
      maxProperties: 30,
      writeOnly: true,
      'x-ignore-case': true,
      description:
        'Sent with every request. Templates: those of HttpConfig, such as `Bearer {{ secrets.token }}`. A parameter that an action does not have is empty here. Upper and lower case are the same in their names.',
    },
    secrets: {
      type: 'object',
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$' },
      additionalProperties: { type: 'string', minLength: SHORTEST_SECRET, maxLength: 8_000 },
      maxProperties: 30,
      writeOnly: true,
      description:
        'What templates name as secrets.<name>, each of at least 8 characters: a shorter one could not be masked safely.',
    },
    actions: {
      type: 'object',
      propertyNames: { enum: ACTION_TYPES },
      additionalProperties: {
        type: 'object',
        description: `The request of an action. Its path and the values of its body are templates.\n\n${TEMPLATES}`,
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
            description: 'Template; values are escaped as one path segment, or a query value.',
          },
          body: {
            type: ['object', 'string'],
            description:
              'Template: an object, or JSON as text, or a form as text beside a content-type header that says so.',
          },
          success_statuses: {
            type: 'array',
            items: { type: 'integer', minimum: 200, maximum: 599 },
            minItems: 1,
            maxItems: 20,
            uniqueItems: true,
            description: 'Without it: every 2xx.',
          },
          idempotent: {
            type: 'boolean',
            description:
              'Sent twice it takes effect once, so that it may be repeated when its outcome is unknown. By default only GET.',
          },
        },
        required: ['path'],
        additionalProperties: false,
      },
      minProperties: 1,
      maxProperties: ACTION_TYPES.length,
      description: 'The action types that the connector provides, and the request of each.',
    },
  },
  required: ['base_url', 'actions'],
  additionalProperties: false,
};

/** Headers that Node sets, because they belong to the connection or to the framing of the message. */
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

export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}

/** Header names mean the same in any case. */
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
