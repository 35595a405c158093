import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../platform/errors/app-error.js';
import '../platform/http/request.js';
import type { Principal } from './principal.js';

/** Who makes the request. The guards have made sure that there is someone wherever a role is required. */
export const CurrentPrincipal = createParamDecorator(
  (_: unknown, context: ExecutionContext): Principal => {
    const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!caller) throw new AppError('unauthorized', 'Authentication is required.');
    return caller as Principal;
  },
);
