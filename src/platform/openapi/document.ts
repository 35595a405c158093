import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { OperationObject, ResponseObject } from '@nestjs/swagger';
import { ACCESS_EXTENSION, type Access } from '../access/access.js';
import { ROLES } from '../access/roles.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../errors/error-catalogue.js';
import { MOST_FIELDS } from '../http/form-body.js';
import { FEW, MANY } from '../http/json-suspicion.js';
import { version } from '../config/version.js';
import {
  ERROR_PAGES_EXTENSION,
  type ErrorMeanings,
  ERRORS_EXTENSION,
  MEANINGS_EXTENSION,
} from './answers.js';
import { describeParts } from './described-parts.js';
import { addEnvelopes } from './envelopes.js';
import { addExamples, errorExamples } from './examples.js';
import {
  ERROR_HEADERS,
  ERROR_SCHEMAS,
  RATE_LIMIT_HEADERS,
  REPLAYED_HEADER,
  REQUEST_ID_HEADER,
  UNDER_WAY_HEADER,
} from './error-schemas.js';
import { describeRequestBodies } from './request-bodies.js';
import { nameSchemas } from './schemas.js';
import { sorted } from './sorted.js';

type Operation = OperationObject & {
  [ACCESS_EXTENSION]?: Access;
  [ERRORS_EXTENSION]?: ErrorCode[];
  [MEANINGS_EXTENSION]?: ErrorMeanings;
  [ERROR_PAGES_EXTENSION]?: boolean;
};

const METHODS = ['get', 'post', 'put', 'delete'] as const;

const DESCRIPTION = `Stores security incidents, triages them with an AI model, and runs response actions that people approve.

Every answer under \`/api\` is \`{data}\`, lists are \`{data, meta}\`, errors \`{error}\`. Unknown fields and query
parameters are refused. Clients should ignore fields, and tolerate values of open sets, that they do not know.

A field without a value is left out of an answer, never null. Times are in UTC, with milliseconds:
\`2026-01-31T09:30:00.000Z\`. In bodies a key that is given twice, the key \`__proto__\` outside \`raw_data\`, a NUL
character, half of a surrogate pair and a whole number that JSON numbers do not hold exactly are refused with 422.

A body may have BODY_LIMIT_BYTES (1 MiB unless the operator sets another), where no role is needed 16 KiB; more is 413. JSON
may nest 64 levels and have ${FEW.keys} keys and ${FEW.values} values, where \`raw_data\` is taken ${MANY.keys} and ${MANY.values}; a
form may have ${MOST_FIELDS} fields; more is 422. When all bodies under way have no room together the answer is 503 with Retry-After.`;

const SESSION_DESCRIPTION = `A session from /login. Over https the cookie is named __Host-its_session.

A request that changes something with the cookie has to say that it comes from this site, as browsers do: with the header
\`Sec-Fetch-Site: same-origin\` (or \`none\`), or without that header with an \`Origin\` of this host. Otherwise it is 403
\`forbidden\`. Reads, and requests with a key, need neither.`;

/** The contract: what Nest knows of the handlers, completed with what all handlers share. */
export function buildDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('Incident Triage Service')
    .setDescription(DESCRIPTION)
    .setVersion(version)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'This service')
    .addSecurity('bearer', {
      type: 'http',
      scheme: 'bearer',
      description: 'An API key: its_<8>_<43>.',
    })
    .addCookieAuth(
      'its_session',
      {
        type: 'apiKey',
        in: 'cookie',
        description: SESSION_DESCRIPTION,
      },
      'session',
    )
    .addSecurity('metricsToken', {
      type: 'http',
      scheme: 'bearer',
      description: 'METRICS_TOKEN.',
    })
    .build();
  const document = SwaggerModule.createDocument(app, config);
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, ...ERROR_SCHEMAS },
  };
  const seen = new Set<string>();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation) complete(operation, method, path, seen);
    }
  }
  describeParts(document);
  describeRequestBodies(document);
  addEnvelopes(document);
  addExamples(document);
  return sorted(nameSchemas(document));
}

function complete(operation: Operation, method: string, path: string, seen: Set<string>): void {
  const access = operation[ACCESS_EXTENSION];
  if (!access) throw new Error(`${method} ${path} declares no access.`);
  operation.operationId = uniqueId(operation.operationId ?? '', path, seen);
  operation.security = securityOf(access);
  if (isRole(access)) {
    operation['x-required-role' as never] = access as never;
    operation.description = [
      ...(operation.description ? [operation.description] : []),
      `From role \`${access}\` upward.`,
    ].join('\n\n');
  }
  if (method === 'post' && isRole(access)) addIdempotencyKey(operation);
  const codes = [
    ...sharedErrors(operation, method, access),
    ...(operation[ERRORS_EXTENSION] ?? []),
  ];
  addErrors(operation, codes);
  const isLimited = access === 'public' && codes.includes('rate_limited');
  for (const [status, response] of Object.entries(operation.responses)) {
    const answer = response as ResponseObject;
    answer.headers = {
      ...answer.headers,
      ...REQUEST_ID_HEADER,
      // Who the caller is comes before how many requests it may make.
      ...((isRole(access) ? status !== '401' : isLimited) && RATE_LIMIT_HEADERS),
      ...(isRole(access) && method === 'post' && status.startsWith('2') && REPLAYED_HEADER),
      ...(isRole(access) && method === 'post' && status === '409' && UNDER_WAY_HEADER),
    };
  }
  delete operation[ACCESS_EXTENSION];
  delete operation[ERRORS_EXTENSION];
  delete operation[MEANINGS_EXTENSION];
  delete operation[ERROR_PAGES_EXTENSION];
}

/** The health addresses exist twice; the ones under /api get ids of their own. */
function uniqueId(id: string, path: string, seen: Set<string>): string {
  const unique = seen.has(id) && path.startsWith('/api/') ? id.replace(/^get/, 'getApi') : id;
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
  // Who has a key or a session, the database has to say.
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

function addErrors(operation: Operation, codes: readonly ErrorCode[]): void {
  const meaningsHere = operation[MEANINGS_EXTENSION] ?? {};
  const byStatus = Map.groupBy([...new Set(codes)], (code) => ERROR_CATALOGUE[code].status);
  for (const [status, group] of byStatus) {
    // A status may also be an answer of the operation's own, such as the body of an unhealthy service.
    const own = operation.responses[status] as ResponseObject | undefined;
    const meanings = group.map(
      (code) => `\`${code}\`: ${meaningsHere[code] ?? ERROR_CATALOGUE[code].meaning}`,
    );
    const ownBody = own?.content?.['application/json'];
    operation.responses[status] = {
      description: [...(own ? [own.description] : []), ...meanings].join('\n\n'),
      ...(ERROR_HEADERS[status] && { headers: ERROR_HEADERS[status] }),
      content: {
        'application/json': ownBody?.schema
          ? { ...ownBody, schema: { oneOf: [ownBody.schema, ERROR_SCHEMA] } }
          : { schema: ERROR_SCHEMA, examples: errorExamples(group) },
        ...(operation[ERROR_PAGES_EXTENSION] && { 'text/html': { schema: { type: 'string' } } }),
      },
    };
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
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
    },
  ];
}
