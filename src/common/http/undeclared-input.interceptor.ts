import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  RequestMethod,
} from '@nestjs/common';
import { METHOD_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { type FieldError, ValidationError } from '../errors/app-error.js';
import { ANY_QUERY } from './handler-options.js';

interface DeclaredInput {
  readonly query: boolean;
  readonly body: boolean;
}

/**
 * Refuses query parameters and bodies that a handler does not declare at all; what it declares, the validation pipe
 * checks. A parameter that is silently ignored is a filter that its sender believes in.
 */
@Injectable()
export class UndeclaredInputInterceptor implements NestInterceptor {
  private readonly declared = new WeakMap<object, DeclaredInput>();

  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const input = this.inputOf(context);
    const query = input.query ? [] : Object.keys(request.query as object);
    const body = input.body ? [] : bodyFields(request.body);
    if (query.length + body.length > 0) {
      throw new ValidationError([...query.map(unknownParameter), ...body.map(unknownField)]);
    }
    return next.handle();
  }

  private inputOf(context: ExecutionContext): DeclaredInput {
    const handler = context.getHandler();
    const known = this.declared.get(handler);
    if (known) return known;
    const args = Object.keys(
      (Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), handler.name) as
        object | undefined) ?? {},
    ).map((key) => Number(key.split(':')[0]));
    const reads = Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.GET;
    const input = {
      query:
        args.includes(RouteParamtypes.QUERY) ||
        this.reflector.getAllAndOverride<boolean>(ANY_QUERY, [handler, context.getClass()]) ===
          true,
      body: reads || args.includes(RouteParamtypes.BODY),
    };
    this.declared.set(handler, input);
    return input;
  }
}

function bodyFields(body: unknown): string[] {
  return typeof body === 'object' && body !== null ? Object.keys(body) : [];
}

const unknownParameter = (field: string): FieldError => ({
  field,
  code: 'unknown_field',
  message: `${field} is not a known query parameter.`,
});

const unknownField = (field: string): FieldError => ({
  field,
  code: 'unknown_field',
  message: `${field} is not a known field.`,
});
