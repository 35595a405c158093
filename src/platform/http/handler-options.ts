import { createParamDecorator, type ExecutionContext, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';

interface Options {
  readonly kind: 'json' | 'json-or-form' | 'raw';
  readonly anyKeysIn?: string;
  readonly ignoresQuery?: true;
}

const OPTIONS = Symbol('options of a handler');

const declare =
  (options: Partial<Options>) =>
  (target: object, _name?: string | symbol, method?: PropertyDescriptor): void => {
    const on = (method?.value ?? target) as object;
    Reflect.defineMetadata(OPTIONS, { ...Reflect.getMetadata(OPTIONS, on), ...options }, on);
  };

/** Type of the body. Default: JSON. `raw` passes the bytes to the guard of the handler. */
export const Consumes = (kind: Options['kind']) => declare({ kind });

/** Body field whose objects may have any keys, and more than usual: a reported attack must not be rejected. */
export const AnyKeysIn = (anyKeysIn: string) => declare({ anyKeysIn });

export const AnyQuery = () => declare({ ignoresQuery: true });

export interface DeclaredInput extends Options {
  readonly takesBody: boolean;
  readonly query: (new () => object) | undefined;
}

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
    input = {
      kind: 'json',
      ...(Reflect.getMetadata(OPTIONS, controller) as Partial<Options> | undefined),
      ...(Reflect.getMetadata(OPTIONS, handler) as Partial<Options> | undefined),
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
    description: '`respond-async`: answer at once with 202, and do the work afterwards.',
    schema: { type: 'string' },
  });
