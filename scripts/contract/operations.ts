import type {
  OperationObject,
  PathsObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from '@nestjs/swagger';
import { ACCESS_EXTENSION, type Access } from '../../src/platform/access/access.js';
import { ROLES } from '../../src/platform/access/roles.js';
import {
  ERROR_CATALOGUE,
  type ErrorCode,
  meaningOf,
  statusOf,
} from '../../src/platform/errors/error-catalogue.js';
import {
  ERROR_PAGES_EXTENSION,
  type ErrorMeanings,
  ERRORS_EXTENSION,
  MEANINGS_EXTENSION,
  SAME_KEY_UNDER_WAY,
  TWINS_UNDER_API,
} from '../../src/platform/openapi/answers.js';
import {
  ERROR_HEADERS,
  RATE_LIMIT_HEADERS,
  REPLAYED_HEADER,
  REQUEST_ID_HEADER,
  UNDER_WAY_HEADER,
} from './shared-schemas.js';
import { errorExamples } from './examples.js';

type Operation = OperationObject & {
  [ACCESS_EXTENSION]?: Access;
  [ERRORS_EXTENSION]?: ErrorCode[];
  [MEANINGS_EXTENSION]?: ErrorMeanings;
  [ERROR_PAGES_EXTENSION]?: boolean;
};

/**
 * Adds the parts that all operations of a kind share: roles, errors, headers, the Idempotency-Key. `seen` contains the
 * operation ids so far.
 */
export function complete(
  operation: Operation,
  method: string,
  path: string,
  seen: Set<string>,
): void {
  const access = operation[ACCESS_EXTENSION];
  if (!access) throw new Error(`${method} ${path} declares no access.`);
  operation.operationId = uniqueId(operation, path, seen);
  operation.security = isRole(access) ? undefined : securityOf(access);
  if (isRole(access)) {
    operation['x-required-role' as never] = access as never;
    operation.description = paragraphs(operation.description, `From role \`${access}\` upward.`);
  }
  if (method === 'post' && isRole(access)) addIdempotencyKey(operation);
  const codes = [
    ...sharedErrors(operation, method, access),
    ...(operation[ERRORS_EXTENSION] ?? []),
    ...(Object.keys(operation[MEANINGS_EXTENSION] ?? {}) as ErrorCode[]),
  ];
  addErrors(operation, codes, method === 'post' && isRole(access));
  describeOwnErrors(operation);
  addConditionalRead(operation, method);
  addHeaders(operation, method, access, codes);
  delete operation[ACCESS_EXTENSION];
  delete operation[ERRORS_EXTENSION];
  delete operation[MEANINGS_EXTENSION];
  delete operation[ERROR_PAGES_EXTENSION];
}

function paragraphs(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text).join('\n\n');
}

/**
 * Adds 304 to a GET whose response has an ETag (see installAnswerTransport). The request header is not documented as a
 * parameter, because it would be an additional argument of each read in existing clients.
 */
function addConditionalRead(operation: Operation, method: string): void {
  const headers = (operation.responses['200'] as ResponseObject | undefined)?.headers;
  const etag = headers?.['ETag'];
  if (method !== 'get' || !etag) return;
  operation.responses['304'] = {
    description: 'The caller has this version already: `If-None-Match` named its ETag.',
    headers: { ETag: etag },
  };
}

/**
 * Adds the Location header to an operation that creates a resource, if another operation reads the resource (see
 * installAnswerTransport).
 */
export function addLocation(
  { responses }: OperationObject,
  path: string,
  paths: PathsObject,
): void {
  const created = responses['201'] as ResponseObject | undefined;
  const isBelow = (other: string) =>
    other.startsWith(`${path}/{`) && /^\{\w+\}$/.test(other.slice(path.length + 1));
  if (!created || !Object.keys(paths).some((other) => isBelow(other) && paths[other]?.get)) return;
  created.headers = {
    ...created.headers,
    Location: {
      description: 'The address of the new resource.',
      schema: { type: 'string', format: 'uri-reference' },
    },
  };
}

/**
 * Returns a unique operation id. Health and metrics exist twice, so their operations under /api get ids of their own.
 */
function uniqueId(operation: Operation, path: string, seen: Set<string>): string {
  const { operationId: id = '', tags = [] } = operation;
  const unique = tags.includes(TWINS_UNDER_API) ? `${id}UnderApi` : id;
  if (seen.has(unique)) throw new Error(`operationId ${unique} of ${path} is taken.`);
  seen.add(unique);
  return unique;
}

function isRole(access: Access): boolean {
  return ROLES.some((role) => role === access);
}

/** Default credentials of an operation. */
export const PRINCIPAL: Record<string, string[]>[] = [{ bearer: [] }, { session: [] }];

function securityOf(access: Access): Record<string, string[]>[] {
  if (access === 'metrics') return [{}, { metricsToken: [] }];
  return access === 'operations' ? [...PRINCIPAL, { metricsToken: [] }] : [];
}

function sharedErrors(operation: Operation, method: string, access: Access): ErrorCode[] {
  const codes: ErrorCode[] = ['bad_request', 'internal_error'];
  if (access === 'operations' || access === 'metrics') codes.push('unauthorized', 'rate_limited');
  // Authentication reads the owner of the key or session from the database, which may be unavailable.
  if (access === 'operations') codes.push('service_unavailable');
  if (!isRole(access)) return codes;
  codes.push('unauthorized', 'rate_limited', 'validation_error', 'service_unavailable');
  const unsafe = method !== 'get';
  if (unsafe || access !== 'viewer') codes.push('forbidden');
  if (unsafe) codes.push('payload_too_large', 'unsupported_media_type');
  if (method === 'post') codes.push('conflict', 'idempotency_key_reused');
  if (operation.parameters?.some((parameter) => 'in' in parameter && parameter.in === 'path'))
    codes.push('not_found');
  return codes;
}

const ERROR_SCHEMA = { $ref: '#/components/schemas/ErrorEnvelope' };
const JSON_TYPE = 'application/json';

/**
 * Adds the error responses of an operation. All have the same type, because some generators support only one error
 * type.
 */
function errorSchemaOf({ responses }: Operation): SchemaObject | ReferenceObject {
  const [own] = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([, response]) => (response as ResponseObject).content?.[JSON_TYPE]?.schema);
  if (!own || !('$ref' in own)) return ERROR_SCHEMA;
  const name = own.$ref.replace(/^.*\//, '').replace(/Dto$/, '');
  return { title: `${name}OrError`, oneOf: [own, ERROR_SCHEMA] };
}

const PAGE = { 'text/html': { schema: { type: 'string' as const } } };

/**
 * Descriptions of shared errors: the texts of the catalogue, and a text for the conflict that only a repeated POST can
 * get.
 */
export const SHARED_MEANINGS: ReadonlyMap<string, string> = new Map([
  ...(Object.keys(ERROR_CATALOGUE) as ErrorCode[]).map(
    (code) => [code, `\`${code}\`: ${meaningOf(code)}`] as const,
  ),
  ['request_under_way', `\`conflict\`: ${SAME_KEY_UNDER_WAY}`],
]);

/** Adds the errors of an operation to its description, so that all operations can share the error responses. */
function describeOwnErrors(operation: Operation): void {
  const own = Object.entries(operation[MEANINGS_EXTENSION] ?? {}).filter(
    ([, meaning]) => meaning !== SAME_KEY_UNDER_WAY,
  );
  if (own.length === 0) return;
  const lines = own.map(
    ([code, meaning]) => `- ${statusOf(code as ErrorCode)} \`${code}\`: ${meaning}`,
  );
  operation.description = paragraphs(operation.description, `Errors:\n${lines.join('\n')}`);
}

function addErrors(operation: Operation, codes: readonly ErrorCode[], isRepeatable: boolean): void {
  const { conflict = SAME_KEY_UNDER_WAY } = operation[MEANINGS_EXTENSION] ?? {};
  const isOnlyRepeated = isRepeatable && conflict === SAME_KEY_UNDER_WAY;
  const inWords = (code: ErrorCode) =>
    SHARED_MEANINGS.get(code === 'conflict' && isOnlyRepeated ? 'request_under_way' : code);
  const byStatus = Map.groupBy([...new Set(codes)], (code) => statusOf(code));
  const schema = errorSchemaOf(operation);
  for (const [status, response] of Object.entries(operation.responses)) {
    const ownBody = (response as ResponseObject).content?.[JSON_TYPE];
    if (Number(status) >= 400 && ownBody) ownBody.schema = schema;
  }
  for (const [status, group] of byStatus) {
    // The operation may document its own response for this status, such as the body of an unhealthy service.
    const own = operation.responses[status] as ResponseObject | undefined;
    const json = {
      [JSON_TYPE]: own?.content?.[JSON_TYPE] ?? { schema, examples: errorExamples(group) },
    };
    operation.responses[status] = {
      description: paragraphs(own?.description, ...group.map(inWords)),
      headers: ERROR_HEADERS[status],
      content: operation[ERROR_PAGES_EXTENSION] ? { ...json, ...PAGE } : json,
    };
  }
}

function addHeaders(
  operation: Operation,
  method: string,
  access: Access,
  codes: readonly ErrorCode[],
): void {
  const isLimited = access === 'page' && codes.includes('rate_limited');
  for (const [status, response] of Object.entries(operation.responses)) {
    const headers = [REQUEST_ID_HEADER];
    // A 401 has no rate-limit headers, because authentication comes before the rate limit.
    if (isRole(access) ? status !== '401' : isLimited) headers.push(RATE_LIMIT_HEADERS);
    if (isRole(access) && method === 'post') {
      if (status.startsWith('2')) headers.push(REPLAYED_HEADER);
      if (status === '409') headers.push(UNDER_WAY_HEADER);
    }
    const answer = response as ResponseObject;
    answer.headers = Object.assign({}, answer.headers, ...headers) as ResponseObject['headers'];
  }
}

function addIdempotencyKey(operation: Operation): void {
  operation.parameters = [
    ...(operation.parameters ?? []),
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: 'The same key with the same request within 24 h has one effect and one answer.',
      schema: {
        title: 'IdempotencyKey',
        type: 'string',
        minLength: 1,
        maxLength: 255,
        pattern: '^[\\x21-\\x7e]+$',
      },
    },
  ];
}
