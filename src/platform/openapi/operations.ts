import type {
  OperationObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from '@nestjs/swagger';
import { ACCESS_EXTENSION, type Access } from '../access/access.js';
import { ROLES } from '../access/roles.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../errors/error-catalogue.js';
import {
  ERROR_PAGES_EXTENSION,
  type ErrorMeanings,
  ERRORS_EXTENSION,
  MEANINGS_EXTENSION,
  SAME_KEY_UNDER_WAY,
} from './answers.js';
import {
  ERROR_HEADERS,
  RATE_LIMIT_HEADERS,
  REPLAYED_HEADER,
  REQUEST_ID_HEADER,
  UNDER_WAY_HEADER,
} from './error-schemas.js';
import { errorExamples } from './examples.js';

type Operation = OperationObject & {
  [ACCESS_EXTENSION]?: Access;
  [ERRORS_EXTENSION]?: ErrorCode[];
  [MEANINGS_EXTENSION]?: ErrorMeanings;
  [ERROR_PAGES_EXTENSION]?: boolean;
};

/**
 * Completes what a handler declares with what all operations of its kind share: who may call it, the errors and headers,
 * the Idempotency-Key. `seen` holds the ids that are taken.
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
  operation.security = securityOf(access);
  if (isRole(access)) {
    operation['x-required-role' as never] = access as never;
    operation.description = paragraphs(operation.description, `From role \`${access}\` upward.`);
  }
  if (method === 'post' && isRole(access)) addIdempotencyKey(operation);
  const codes = [
    ...sharedErrors(operation, method, access),
    ...(operation[ERRORS_EXTENSION] ?? []),
  ];
  addErrors(operation, codes, meaningsOf(operation, method, access));
  addHeaders(operation, method, access, codes);
  delete operation[ACCESS_EXTENSION];
  delete operation[ERRORS_EXTENSION];
  delete operation[MEANINGS_EXTENSION];
  delete operation[ERROR_PAGES_EXTENSION];
}

function paragraphs(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text).join('\n\n');
}

/** The tag of the operations that are at the root, too. */
export const TWINS_UNDER_API = 'System under /api';

/** Health and metrics exist twice; the ones under /api get ids of their own. */
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

function securityOf(access: Access): Record<string, string[]>[] {
  const principal: Record<string, string[]>[] = [{ bearer: [] }, { session: [] }];
  if (access === 'metrics') return [{}, { metricsToken: [] }];
  if (access === 'operations') return [...principal, { metricsToken: [] }];
  return isRole(access) ? principal : [];
}

function sharedErrors(operation: Operation, method: string, access: Access): ErrorCode[] {
  const codes: ErrorCode[] = ['bad_request', 'internal_error'];
  if (access === 'operations' || access === 'metrics') codes.push('unauthorized', 'rate_limited');
  // The database has to say whose the key or the session is.
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

export const ERROR_SCHEMA = { $ref: '#/components/schemas/ErrorEnvelope' };
const JSON_TYPE = 'application/json';

/** What the errors of an operation are: all the same, since some generators know only one type of errors. */
function errorSchemaOf({ responses }: Operation): SchemaObject | ReferenceObject {
  const [own] = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([, response]) => (response as ResponseObject).content?.[JSON_TYPE]?.schema);
  if (!own || !('$ref' in own)) return ERROR_SCHEMA;
  const name = own.$ref.replace(/^.*\//, '').replace(/Dto$/, '');
  return { title: `${name}OrError`, oneOf: [own, ERROR_SCHEMA] };
}

const PAGE = { 'text/html': { schema: { type: 'string' as const } } };

const FROM_ANOTHER_SITE =
  "a request with a session's cookie comes from another site, or does not say where it comes from";

/** What the handlers need not say one by one. */
function meaningsOf(operation: Operation, method: string, access: Access): ErrorMeanings {
  return {
    ...(isRole(access) && forbiddenBelow(access, method)),
    ...(method === 'post' && isRole(access) && { conflict: SAME_KEY_UNDER_WAY }),
    ...operation[MEANINGS_EXTENSION],
  };
}

/** Why a caller is refused at an operation that wants this role. */
export function forbiddenBelow(access: Access, method: string): ErrorMeanings {
  const role = access === 'viewer' ? [] : [`the role is below \`${access}\``];
  const site = method === 'get' ? [] : [FROM_ANOTHER_SITE];
  return { forbidden: sentence([...role, ...site].join(', or ')) };
}

/** What the contract says of an error: the operation's own words, or those of the catalogue. */
export const errorInWords = (code: ErrorCode, meanings: ErrorMeanings): string =>
  `\`${code}\`: ${meanings[code] ?? ERROR_CATALOGUE[code].meaning}`;

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function addErrors(
  operation: Operation,
  codes: readonly ErrorCode[],
  meanings: ErrorMeanings,
): void {
  const byStatus = Map.groupBy([...new Set(codes)], (code) => ERROR_CATALOGUE[code].status);
  const schema = errorSchemaOf(operation);
  for (const [status, response] of Object.entries(operation.responses)) {
    const ownBody = (response as ResponseObject).content?.[JSON_TYPE];
    if (Number(status) >= 400 && ownBody) ownBody.schema = schema;
  }
  for (const [status, group] of byStatus) {
    // A status may also be an answer of the operation's own, such as the body of an unhealthy service.
    const own = operation.responses[status] as ResponseObject | undefined;
    const inWords = group.map((code) => errorInWords(code, meanings));
    const json = {
      [JSON_TYPE]: own?.content?.[JSON_TYPE] ?? { schema, examples: errorExamples(group) },
    };
    operation.responses[status] = {
      description: paragraphs(own?.description, ...inWords),
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
  const isLimited = access === 'public' && codes.includes('rate_limited');
  for (const [status, response] of Object.entries(operation.responses)) {
    const headers = [REQUEST_ID_HEADER];
    // Who the caller is comes before how many requests it may make.
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
