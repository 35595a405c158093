import type { VendorRequest } from '../../calls/vendor-calls.js';
import type { ActionCall } from '../../connector.port.js';
import {
  DEFAULT_METHOD,
  headerNamed,
  type HttpAction,
  type HttpConfig,
  takesForm,
} from './http-config.js';
import { TemplateRenderer } from './template-renderer.js';
import { parseTemplate, referencesIn, type Scope } from './template.js';

/** The request of an action. Throws RenderError when the parameters do not fit. */
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
      // Vendors that know the header have the effect once, however often they get the request.
      'idempotency-key': isSet('idempotency-key') ? undefined : actionId,
      ...renderedHeaders(config, rendering),
    },
    body,
  };
}

/** The request of a test: GET of the base address, with the headers that do not depend on an action. */
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
  // The rules for paths and templates exclude it already. A mistake there must not send anything to another host.
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
