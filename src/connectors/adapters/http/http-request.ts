import { SHORTEST_SECRET } from '../../../targets/target-config.js';
import type { VendorRequest } from '../../calls/vendor-calls.js';
import type { ActionCall } from '../../connector-type.js';
import {
  DEFAULT_METHOD,
  headerNamed,
  type HttpAction,
  type HttpConfig,
  takesForm,
} from './http-config.js';
import { TemplateRenderer, parseTemplate, referencesIn, type Scope } from './template.js';

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
