import { ACTION_TYPES, type ActionTypeName } from '../../../action-catalogue/action-types.js';
import { SHORTEST_SECRET, type ConfigSchema } from '../../../targets/target-config.js';

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

export const HTTP_SCHEMA: ConfigSchema = {
  type: 'object',
  description: `Connects any tool with an HTTP API: an address, headers, and a request for each action.\n\n${TEMPLATES}`,
  properties: {
    base_url: {
      type: 'string',
      format: 'uri',
      minLength: 8,
      maxLength: 2_000,
      description:
        'Base of every path. An address of a private network must be in ALLOWED_PRIVATE_TARGETS.',
    },
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
  required: ['base_url', 'actions'],
  additionalProperties: false,
};

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

export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
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
