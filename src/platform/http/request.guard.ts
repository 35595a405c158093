import './request.js';
import type { FastifyRequest } from 'fastify';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import {
  AppError,
  type FieldError,
  MOST_ERRORS,
  unknownField,
  ValidationError,
} from '../errors/app-error.js';
import { shownName } from '../text.js';
import { takesManyValues } from '../validation/query-fields.js';
import { parseIfMatch } from './etag.js';
import { type DeclaredInput, inputOf } from './handler-options.js';
import { KnownRoutes } from './known-routes.js';
import { jsonDefects, type ReadBody, readStrictJson, textOf } from './strict-json.js';

const JSON_TYPE = /^application\/json *(?:; *charset="?utf-8"? *)?$/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded *(?:; *charset="?utf-8"? *)?$/i;
const NO_BYTES = Buffer.alloc(0);

/** Maximum size of a form. The forms need no role, and a user name and a password are much shorter. */
const FORM_BYTES = 16 * 1024;

/**
 * Rejects unknown addresses and malformed requests after authentication and rate limits, so that strangers do not learn
 * which addresses exist. Callers get 401, 429, 404 and 405 first, then 413, 415 and 400, then 403 and 422. So
 * InputGuard reports defects in the content of a body.
 */
@Injectable()
export class RequestGuard implements CanActivate {
  constructor(
    private readonly settings: Settings,
    private readonly routes: KnownRoutes,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const problem = this.routes.problemOf(request);
    if (problem) throw problem;
    const input = inputOf(context);
    if (!input.ignoresQuery) requireReadableQuery(request.url);
    requireHeaders(request);
    const { arriving, received, method } = request;
    // HmacGuard has already read and verified the bytes.
    if (!arriving || received || method === 'GET' || method === 'HEAD') return true;
    return this.readBody(request, arriving, input);
  }

  private async readBody(
    request: FastifyRequest,
    arriving: NonNullable<FastifyRequest['arriving']>,
    { kind, anyKeysIn }: DeclaredInput,
  ): Promise<true> {
    if (kind !== 'raw') requireType(request, kind);
    const { bodyLimitBytes } = this.settings;
    const bytes = await arriving.read(kind === 'json-or-form' ? FORM_BYTES : bodyLimitBytes);
    request.received = bytes;
    if (kind === 'raw' || bytes.length === 0) return true;
    const { value, problem } = isForm(request) ? readForm(bytes) : readStrictJson(bytes, anyKeysIn);
    // Generated clients send null instead of an empty body.
    if (value === null) request.received = NO_BYTES;
    else if (typeof value !== 'object' || Array.isArray(value)) request.contentProblem = NO_OBJECT;
    else {
      request.body = value;
      request.contentProblem = problem;
    }
    return true;
  }
}

/** Node joins repeated headers with ", ", so a key that was sent twice does not match the pattern. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

function requireHeaders({ method, headers, caller }: FastifyRequest): void {
  if (!caller) return;
  const key = headers['idempotency-key'];
  if (key !== undefined && method === 'POST' && !IDEMPOTENCY_KEY.test(String(key))) {
    throw new AppError(
      'bad_request',
      'Idempotency-Key must be given once, as 1 to 255 visible ASCII characters.',
    );
  }
  if (method === 'PUT' || method === 'DELETE') parseIfMatch(headers['if-match']);
}

/** Rejects invalid percent-encoding in a query. The router would not decode it, so a filter would match nothing. */
function requireReadableQuery(url: string): void {
  const start = url.indexOf('?');
  if (start < 0 || !url.includes('%', start)) return;
  requireEncoded(url.slice(start), 'The query is malformed.');
}

function requireEncoded(text: string, message: string): void {
  try {
    decodeURIComponent(text);
  } catch (error) {
    throw new AppError('bad_request', message, { cause: error });
  }
}

function isForm({ headers }: FastifyRequest): boolean {
  return FORM_TYPE.test(headers['content-type'] ?? '');
}

function requireType(request: FastifyRequest, kind: DeclaredInput['kind']): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (encoding.toLowerCase() !== 'identity') {
    throw unsupported(`Content-Encoding ${encoding} is not supported.`);
  }
  const takesForms = kind === 'json-or-form';
  if (JSON_TYPE.test(type) || (takesForms && isForm(request))) return;
  const types = `application/json${takesForms ? ' or application/x-www-form-urlencoded' : ''}`;
  throw unsupported(`The body must be ${types} in UTF-8.`);
}

const unsupported = (message: string) => new AppError('unsupported_media_type', message);

const NO_OBJECT = ValidationError.of('', 'is_object', 'The body must be a JSON object.');

/** Reads an HTML form in UTF-8. If a name is repeated, the last field wins, as in JSON. */
function readForm(bytes: Buffer): ReadBody {
  const text = textOf(bytes);
  requireEncoded(text, 'The body is not a valid form.');
  const value = Object.fromEntries(new URLSearchParams(text));
  const defects = jsonDefects(value);
  return { value, problem: defects.length > 0 ? new ValidationError(defects) : undefined };
}

/** Rejects undeclared parameters and bodies, because a caller must not rely on a filter that the service ignores. */
@Injectable()
export class InputGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.contentProblem) throw request.contentProblem;
    const { ignoresQuery, query: declared, takesBody } = inputOf(context);
    const query = request.query as Record<string, unknown>;
    if (declared) foldBrackets(query, declared);
    const problems = ignoresQuery ? [] : problemsOfQuery(query, declared);
    // A handler that takes raw bytes checks them itself.
    if (!takesBody && !Buffer.isBuffer(request.body)) {
      const names = Object.keys(request.body ?? {}).slice(0, MOST_ERRORS);
      problems.push(...names.map((name) => unknownField(shownName(name), 'field')));
    }
    if (problems.length > 0) throw new ValidationError(problems);
    return true;
  }
}

/** Renames `status[]` to `status` if `status` takes a list. axios and PHP send `status[]` for a repeated key. */
function foldBrackets(query: Record<string, unknown>, declared: new () => object): void {
  for (const written of Object.keys(query)) {
    const name = written.slice(0, -2);
    if (!written.endsWith('[]') || !takesManyValues(declared, name)) continue;
    query[name] = [query[name] ?? [], query[written]].flat();
    delete query[written];
  }
}

/** Rejects undeclared parameters, repeated parameters that are not lists, and NUL, which PostgreSQL cannot store. */
function problemsOfQuery(query: object, declared: DeclaredInput['query']): FieldError[] {
  return Object.entries(query).flatMap(([name, value]) => {
    const field = shownName(name);
    if (!declared) return unknownField(field, 'query parameter');
    if (Array.isArray(value) && !takesManyValues(declared, name)) {
      return { field, code: 'duplicate_key', message: `${field} is given more than once.` };
    }
    if (!`${name}${String(value)}`.includes('\0')) return [];
    return { field, code: 'nul_character', message: `${field} contains a NUL character.` };
  });
}
