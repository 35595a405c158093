import './request.js';
import type { FastifyRequest } from 'fastify';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Settings } from '../config/settings.js';
import { ACCESS, type Access } from '../access/access.js';
import { ROLES } from '../access/roles.js';
import { AppError, ValidationError } from '../errors/app-error.js';
import { parseIfMatch } from './etag.js';
import {
  ANY_KEYS,
  ANY_QUERY,
  BODY_KIND,
  BODY_UP_TO,
  type BodyKind,
  STRANGERS_BODY_BYTES,
} from './handler-options.js';
import { KnownRoutes } from './known-routes.js';
import { jsonDefects, type ReadBody, readStrictJson, textOf } from './strict-json.js';

const JSON_TYPE = /^application\/json *(?:; *charset="?utf-8"? *)?$/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded *(?:; *charset="?utf-8"? *)?$/i;
const NO_BYTES = Buffer.alloc(0);

type Handler = Parameters<Reflector['getAllAndOverride']>[1];

/**
 * Rejects unknown addresses and malformed requests, and reads the body. Runs after authentication and rate limits, so that
 * strangers do not learn which addresses exist, and before roles: callers get 401, 429, 404 and 405, then 413, 415 and 400,
 * then 403 and 422. Defects in the content of a readable body are therefore kept for the InputGuard.
 */
@Injectable()
export class RequestGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly settings: Settings,
    private readonly routes: KnownRoutes,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const problem = this.routes.problemOf(request);
    if (problem) throw problem;
    const handler: Handler = [context.getHandler(), context.getClass()];
    if (!this.option<boolean>(ANY_QUERY, handler)) requireReadableQuery(request.url);
    const { arriving, received, method } = request;
    // HmacGuard has read the bytes that it verified.
    if (!arriving || received || method === 'GET' || method === 'HEAD') {
      return requireHeaders(request);
    }
    return this.readBody(request, arriving, handler).then(() => requireHeaders(request));
  }

  private async readBody(
    request: FastifyRequest,
    arriving: NonNullable<FastifyRequest['arriving']>,
    handler: Handler,
  ): Promise<void> {
    const kind = this.option<BodyKind>(BODY_KIND, handler) ?? 'json';
    const wrongType = kind === 'raw' ? undefined : problemOfType(request, kind);
    // An empty body may have any type.
    if (wrongType && !(await arriving.read(0).catch(() => undefined))) throw wrongType;
    if (wrongType) return;
    const bytes = await arriving.read(this.mostBytes(handler));
    request.received = bytes;
    if (kind === 'raw' || bytes.length === 0) return;
    const { value, problem } = isForm(request)
      ? readForm(bytes)
      : readStrictJson(bytes, this.option<string>(ANY_KEYS, handler));
    // Generated clients send null for an omitted body.
    if (value === null) request.received = NO_BYTES;
    else if (typeof value !== 'object' || Array.isArray(value)) request.contentProblem = NO_OBJECT;
    else {
      request.body = value;
      request.contentProblem = problem;
    }
  }

  private mostBytes(handler: Handler): number {
    const { bodyLimitBytes } = this.settings;
    const declared = this.option<number | 'limit'>(BODY_UP_TO, handler);
    if (declared !== undefined) return declared === 'limit' ? bodyLimitBytes : declared;
    const access = this.option<Access>(ACCESS, handler);
    return ROLES.some((role) => role === access) ? bodyLimitBytes : STRANGERS_BODY_BYTES;
  }

  private option<T>(name: symbol, handler: Handler): T | undefined {
    return this.reflector.getAllAndOverride<T | undefined>(name, handler);
  }
}

/** Node joins repeated headers with ", ", so a key that was sent twice does not match. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

function requireHeaders({ method, headers, caller }: FastifyRequest): true {
  if (!caller) return true;
  const key = headers['idempotency-key'];
  if (key !== undefined && method === 'POST' && !IDEMPOTENCY_KEY.test(String(key))) {
    throw new AppError(
      'bad_request',
      'Idempotency-Key must be given once, as 1 to 255 visible ASCII characters.',
    );
  }
  if (method === 'PUT' || method === 'DELETE') parseIfMatch(headers['if-match']);
  return true;
}

/** Rejects invalid percent-encoding. The router keeps it unchanged, so a filter would match nothing. */
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

function problemOfType(request: FastifyRequest, kind: BodyKind): AppError | undefined {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (encoding.toLowerCase() !== 'identity') {
    return unsupported(`Content-Encoding ${encoding} is not supported.`);
  }
  const takesForms = kind === 'json-or-form';
  if (JSON_TYPE.test(type) || (takesForms && isForm(request))) return undefined;
  const types = `application/json${takesForms ? ' or application/x-www-form-urlencoded' : ''}`;
  return unsupported(`The body must be ${types} in UTF-8.`);
}

const unsupported = (message: string) => new AppError('unsupported_media_type', message);

const NO_OBJECT = ValidationError.of('', 'is_object', 'The body must be a JSON object.');

/** Reads an HTML form in UTF-8. As in JSON, the last field with the same name wins. */
function readForm(bytes: Buffer): ReadBody {
  const text = textOf(bytes);
  requireEncoded(text, 'The body is not a valid form.');
  const value = Object.fromEntries(new URLSearchParams(text));
  const defects = jsonDefects(value);
  return { value, problem: defects.length > 0 ? new ValidationError(defects) : undefined };
}
