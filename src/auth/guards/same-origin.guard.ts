import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { CrossOriginError } from '../auth.errors.js';
import { originOf } from './same-origin.js';

const SAME_ORIGIN = Symbol('same origin');

/** For what logs in and out: no other site may do it in a visitor's name. */
export const FromSameOrigin = (): MethodDecorator => SetMetadata(SAME_ORIGIN, true);

/** A program, which has no browser's cookies to be misused, says nothing of where it comes from and is let through. */
@Injectable()
export class SameOriginGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (!this.reflector.get<boolean | undefined>(SAME_ORIGIN, context.getHandler())) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (originOf(request) === 'other') throw new CrossOriginError();
    return true;
  }
}
