import type {
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ResponseObject,
} from '@nestjs/swagger';
import { SHARED_MEANINGS } from './operations.js';
import { operationsOf } from './schemas.js';

type Named = Record<string, unknown>;

const pascal = (name: string): string =>
  name.replace(/(?:^|[-_ ])(\w)/g, (_, first: string) => first.toUpperCase());

/** Moves parts with equal content to the components, and replaces them by references. */
export function shareParts(document: OpenAPIObject): OpenAPIObject {
  const operations = operationsOf(document).map(({ operation }) => operation);
  const schemas = new Set(Object.keys(document.components?.schemas ?? {}));
  const headers = shareHeaders(operations);
  const responses = shareResponses(operations);
  const parameters = shareParameters(operations);
  for (const name of [...Object.keys(responses), ...Object.keys(parameters)]) {
    // Generated code has a single namespace for all kinds of components, so two components must not share a name.
    if (schemas.has(name)) throw new Error(`Two components are called ${name}.`);
  }
  document.components = { ...document.components, headers, responses, parameters } as never;
  return document;
}

function shareHeaders(operations: readonly OperationObject[]): Named {
  const shelf = new Shelf('headers');
  const owners = operations.flatMap(
    ({ responses }) => Object.values(responses) as ResponseObject[],
  );
  for (const { headers = {} } of owners) {
    for (const [name, header] of Object.entries(headers))
      shelf.count(nameOfHeader(name, header), header);
  }
  for (const { headers = {} } of owners) {
    for (const [name, header] of Object.entries(headers)) {
      headers[name] = shelf.shared(nameOfHeader(name, header), header) as never;
    }
  }
  return shelf.components;
}

/** `Retry-After` is always present on a 429, and on other statuses only if a retry can succeed. */
const nameOfHeader = (name: string, header: object): string =>
  `${pascal(name)}${'required' in header && header.required ? 'Required' : ''}`;

const ERROR_NAMES: ReadonlyMap<string, string> = new Map(
  [...SHARED_MEANINGS].map(([code, words]) => [words, pascal(code)]),
);

/**
 * Name of an error response that operations share, such as `ValidationErrorOrIdempotencyKeyReusedAnswer`. The name
 * follows from the response alone, so that another operation cannot change its meaning. Undefined if the response has
 * more than error codes.
 */
function nameOfError(status: string, response: ResponseObject): string | undefined {
  const { content = {}, description, headers = {} } = response;
  const names = description.split('\n\n').map((words) => ERROR_NAMES.get(words));
  const { 'application/json': body, 'text/html': page } = content;
  const { $ref = '' } = (body?.schema ?? {}) as { $ref?: string };
  const [, subject] = /\/(?:ErrorEnvelope|(\w+)OrError)$/.exec($ref) ?? [''];
  if (names.includes(undefined) || subject === '') return undefined;
  const type = page ? 'OrPage' : '';
  return `${subject ?? ''}${names.join('Or')}Answer${type}${headersInName(status, headers)}`;
}

/**
 * Returns a suffix for a response with unusual headers. Usually, all responses except a 401 have rate-limit headers,
 * and a conflict has Retry-After.
 */
function headersInName(status: string, headers: object): string {
  const isLimited = 'X-RateLimit-Limit' in headers;
  const limits = isLimited ? 'Limited' : 'Unlimited';
  const waits = status === '409' && !('Retry-After' in headers) ? 'WithoutRetryAfter' : '';
  return `${isLimited === (status !== '401') ? '' : limits}${waits}`;
}

/** Shares only errors and 304, because other responses differ between operations. */
function shareResponses(operations: readonly OperationObject[]): Named {
  const shelf = new Shelf('responses');
  const errors = operations.flatMap(({ responses }) =>
    Object.entries(responses as Record<string, ResponseObject>).flatMap(([status, response]) => {
      const error = Number(status) >= 400 ? nameOfError(status, response) : undefined;
      const name = status === '304' ? 'NotModifiedAnswer' : error;
      return name ? [{ responses, status, name }] : [];
    }),
  );
  for (const { responses, status, name } of errors) shelf.count(name, responses[status]);
  for (const { responses, status, name } of errors) {
    responses[status] = shelf.shared(name, responses[status]) as never;
  }
  for (const { operationId = '', responses } of operations) {
    // ogen creates one type for all unnamed responses with the same body and headers. `Retry-After` is required on a
    // 429 and optional on other statuses, so each 429 has its own name.
    const limited: object | undefined = responses['429'];
    if (!limited || '$ref' in limited) continue;
    responses['429'] = shelf.named(`${pascal(operationId)}RateLimitedAnswer`, limited) as never;
  }
  return shelf.components;
}

function shareParameters(operations: readonly OperationObject[]): Named {
  const shelf = new Shelf('parameters');
  const all = operations.flatMap(({ parameters = [] }) => parameters as ParameterObject[]);
  for (const parameter of all) if (!parameter.required) delete parameter.required;
  for (const parameter of all) shelf.count(nameIn(parameter), parameter);
  for (const operation of operations) {
    operation.parameters = (operation.parameters as ParameterObject[] | undefined)?.map(
      (parameter) => shelf.shared(nameIn(parameter), parameter) as never,
    );
  }
  return shelf.components;
}

/**
 * Returns the name of the schema if the parameter has a named schema, because ids and sort fields have the same name in
 * all operations.
 */
function nameIn(parameter: ParameterObject): string {
  const { $ref } = (parameter.schema ?? {}) as { $ref?: string };
  return `${$ref?.split('/').at(-1) ?? pascal(parameter.name)}${pascal(parameter.in)}`;
}

/**
 * Counts the uses of each name. A part is shared if it occurs more than once and no other part has its name. If only
 * the frequency decided, another operation could change the meaning of a name.
 */
class Shelf {
  readonly components: Named = {};
  private readonly counts = new Map<string, Map<string, number>>();

  constructor(private readonly kind: string) {}

  count(name: string, part: unknown): void {
    const texts = this.counts.get(name) ?? new Map<string, number>();
    const text = JSON.stringify(part);
    this.counts.set(name, texts.set(text, (texts.get(text) ?? 0) + 1));
  }

  shared(name: string, part: unknown): unknown {
    const [times, ...others] = this.counts.get(name)!.values();
    if (others.length > 0 || times === 1) return part;
    return this.named(name, part);
  }

  named(name: string, part: unknown): unknown {
    this.components[name] ??= part;
    return { $ref: `#/components/${this.kind}/${name}` };
  }
}
