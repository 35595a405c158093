import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CrossOriginError } from '../auth.errors.js';
import { originOf } from './same-origin.js';

/**
 * For what logs in and out: no other site may do it in a visitor's name. A program, which has no browser's cookies to
 * be misused, says nothing of where it comes from and is let through.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (originOf(request) === 'other') throw new CrossOriginError();
    return true;
  }
}
