import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors/app-error.js';
import { BODY_KIND, type BodyKind } from './handler-options.js';
import './request.js';
import { readStrictJson } from './strict-json.js';

const JSON_TYPE = /^application\/json *(?:; *charset="?utf-8"? *)?$/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded *(?:; *charset="?utf-8"? *)?$/i;

/**
 * Comes after authentication and rate limits and before roles, because that is the order in which a caller learns what
 * is wrong: 401, 429, then 413, 415 and 400, then 403 and 422.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { received } = request;
    if (!received) return true;
    if (received.problem) throw received.problem;
    const kind = this.reflector.getAllAndOverride<BodyKind | undefined>(BODY_KIND, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (kind !== 'raw') request.body = readBody(request, received.bytes, kind ?? 'json');
    return true;
  }
}

function readBody(request: FastifyRequest, bytes: Buffer, kind: BodyKind): unknown {
  if (bytes.length === 0) return undefined;
  const type = request.headers['content-type'] ?? '';
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw unsupported(`Content-Encoding ${encoding} is not supported.`);
  if (JSON_TYPE.test(type)) return readStrictJson(bytes);
  if (kind === 'json-or-form' && FORM_TYPE.test(type)) {
    return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
  }
  throw unsupported('The body must be application/json in UTF-8.');
}

function unsupported(message: string): AppError {
  return new AppError('unsupported_media_type', message);
}
