import {
  createParamDecorator,
  type ExecutionContext,
  RequestMethod,
  SetMetadata,
} from '@nestjs/common';
import { METHOD_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { Reflector } from '@nestjs/core';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface DeclaredInput {
  readonly kind: 'json' | 'json-or-form' | 'raw';
  readonly anyKeysIn: string | undefined;
  readonly ignoresQuery: boolean | undefined;
  readonly takesBody: boolean;
  readonly query: (new () => object) | undefined;
}

const KIND = Symbol('kind of body');
const ANY_KEYS_IN = Symbol('field with any keys');
const ANY_QUERY = Symbol('any query');

/** Type of the body. Default: JSON. `raw` passes the bytes to the guard of the handler. */
export const Consumes = (kind: DeclaredInput['kind']) => SetMetadata(KIND, kind);

/** Body field whose objects may have any keys, and more than usual: a reported attack must not be rejected. */
export const AnyKeysIn = (field: string) => SetMetadata(ANY_KEYS_IN, field);

export const AnyQuery = () => SetMetadata(ANY_QUERY, true);

const reflector = new Reflector();
const declaredInputs = new WeakMap<object, DeclaredInput>();

export function inputOf(context: ExecutionContext): DeclaredInput {
  const [handler, controller] = [context.getHandler(), context.getClass<object>()];
  let input = declaredInputs.get(handler);
  if (!input) {
    // Nest stores a parameter as `<type>:<index>`. For custom decorators, the type is a random name.
    const parameters = Object.keys(
      (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler.name) ?? {}) as object,
    ).map((key) => key.split(':').map(Number));
    const indexOf = (type: RouteParamtypes) => parameters.find(([known]) => known === type)?.[1];
    const prototype = controller.prototype as object;
    const classes = Reflect.getMetadata('design:paramtypes', prototype, handler.name) as
      (new () => object)[] | undefined;
    const isRead = Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.GET;
    const declared = <T>(key: symbol) =>
      reflector.getAllAndOverride<T | undefined>(key, [handler, controller]);
    input = {
      kind: declared<DeclaredInput['kind']>(KIND) ?? 'json',
      anyKeysIn: declared<string>(ANY_KEYS_IN),
      ignoresQuery: declared<boolean>(ANY_QUERY),
      takesBody: isRead || indexOf(RouteParamtypes.BODY) !== undefined,
      query: classes?.[indexOf(RouteParamtypes.QUERY) ?? -1],
    };
    declaredInputs.set(handler, input);
  }
  return input;
}

export const ClientLeft = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const left = new AbortController();
  const { raw } = context.switchToHttp().getResponse<FastifyReply>();
  raw.once('close', () => left.abort());
  return left.signal;
});

/** Returns true if the caller prefers a response before the work is done (RFC 7240). Ignores other preferences. */
export function prefersAsync({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return String(headers['prefer'] ?? '')
    .split(',')
    .some((preference) => preference.split(/[;=]/)[0]!.trim().toLowerCase() === 'respond-async');
}

export const PrefersAsync = createParamDecorator((_: unknown, context: ExecutionContext): boolean =>
  prefersAsync(context.switchToHttp().getRequest<FastifyRequest>()),
);

export const PREFERENCE_APPLIED_HEADER = {
  'Preference-Applied': {
    description: 'Present when the request asked for it with Prefer.',
    schema: { type: 'string' as const, example: 'respond-async' },
  },
};

/** Documents the header without an example, because Swagger UI would send the example. */
export const ApiPreferAsync = (): MethodDecorator =>
  ApiHeader({
    name: 'Prefer',
    required: false,
    description:
      '`respond-async`: the response is an immediate 202, and the work is done afterwards.',
    schema: { type: 'string' },
  });
