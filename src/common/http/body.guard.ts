import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { AppError, ValidationError } from '../errors/app-error.js';
import { readForm } from './form-body.js';
import { ANY_KEYS, ANY_QUERY, BODY_KIND, type BodyKind } from './handler-options.js';
import { requireReadableQuery } from './query-problems.js';
import './request.js';
import { type ReadBody, readStrictJson } from './strict-json.js';

const JSON_TYPE = /^application\/json *(?:; *charset="?utf-8"? *)?$/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded *(?:; *charset="?utf-8"? *)?$/i;

/**
 * Comes after authentication and rate limits and before roles, because that is the order in which a caller learns what
 * is wrong: 401, 429, then 413, 415 and 400, then 403 and 422. What is wrong with the content of a readable body is
 * therefore kept for the InputGuard.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { received } = request;
    const handler = [context.getHandler(), context.getClass()];
    if (received?.problem) throw received.problem;
    if (!this.reflector.getAllAndOverride<boolean | undefined>(ANY_QUERY, handler)) {
      requireReadableQuery(request.url);
    }
    if (!received) return true;
    const kind = this.reflector.getAllAndOverride<BodyKind | undefined>(BODY_KIND, handler);
    if (kind === 'raw' || received.bytes.length === 0) return true;
    const anyKeysIn = (): string | undefined => this.reflector.getAllAndOverride(ANY_KEYS, handler);
    const { value, problem } = readBody(request, received.bytes, kind ?? 'json', anyKeysIn);
    request.body = value;
    if (problem) request.contentProblem = problem;
    return true;
  }
}

function readBody(
  request: FastifyRequest,
  bytes: Buffer,
  kind: BodyKind,
  anyKeysIn: () => string | undefined,
): ReadBody {
  const type = request.headers['content-type'] ?? '';
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw unsupported(`Content-Encoding ${encoding} is not supported.`);
  }
  if (JSON_TYPE.test(type)) return ofObject(readStrictJson(bytes, anyKeysIn));
  if (kind === 'json-or-form' && FORM_TYPE.test(type)) return readForm(bytes);
  throw unsupported('The body must be application/json in UTF-8.');
}

/** Every body of this API is an object. The validation pipe would take null for one, and stumble over a number. */
function ofObject(read: ReadBody): ReadBody {
  const { value } = read;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return read;
  const problem = ValidationError.of('', 'is_object', 'The body must be a JSON object.');
  return { value: undefined, problem };
}

function unsupported(message: string): AppError {
  return new AppError('unsupported_media_type', message);
}
