import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors/app-error.js';
import { parseIfMatch } from './etag.js';
import './request.js';

/** Node joins repeated headers with a comma and a space, so a key that was sent twice does not fit either. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** Malformed headers are told with malformed bodies: after rate limits and before roles. */
@Injectable()
export class HeaderGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { method, headers, caller } = context.switchToHttp().getRequest<FastifyRequest>();
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
}
