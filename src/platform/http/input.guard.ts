import './request.js';
import { type CanActivate, type ExecutionContext, Injectable, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import {
  type FieldError,
  MOST_ERRORS,
  unknownField,
  ValidationError,
} from '../errors/app-error.js';
import { shownName } from '../text.js';
import { takesManyValues } from '../validation/query-fields.js';
import { ANY_QUERY } from './handler-options.js';

interface DeclaredInput {
  readonly ignoresQuery: boolean;
  /** Class of the query, or `undefined` if the handler takes no query. */
  readonly query: (new () => object) | undefined;
  readonly takesBody: boolean;
}

/**
 * Rejects defects of the body, and undeclared query parameters and bodies: a caller must not rely on a filter that the
 * service ignores. The validation pipe checks declared parameters and bodies.
 */
@Injectable()
export class InputGuard implements CanActivate {
  private readonly declared = new WeakMap<object, DeclaredInput>();

  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (request.contentProblem) throw request.contentProblem;
    const declared = this.inputOf(context);
    const query = request.query as Record<string, unknown>;
    if (declared.query) foldBrackets(query, declared.query);
    const problems = declared.ignoresQuery ? [] : problemsOfQuery(query, declared.query);
    // A handler of raw bytes checks the bytes itself.
    if (!declared.takesBody && !Buffer.isBuffer(request.body)) {
      const names = Object.keys(request.body ?? {}).slice(0, MOST_ERRORS);
      problems.push(...names.map((name) => unknownField(shownName(name), 'field')));
    }
    if (problems.length > 0) throw new ValidationError(problems);
    return true;
  }

  private inputOf(context: ExecutionContext): DeclaredInput {
    const handler = context.getHandler();
    let declared = this.declared.get(handler);
    if (!declared) {
      const { name } = handler;
      const controller = context.getClass<object>();
      const prototype = controller.prototype as object;
      const args = argumentsOf(metadataOf<object>(ROUTE_ARGS_METADATA, controller, name) ?? {});
      const classes = metadataOf<(new () => object)[]>('design:paramtypes', prototype, name);
      const isRead = Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.GET;
      declared = {
        ignoresQuery:
          this.reflector.getAllAndOverride<true | undefined>(ANY_QUERY, [handler, controller]) ??
          false,
        query: classes?.[args.get(RouteParamtypes.QUERY) ?? -1],
        takesBody: isRead || args.has(RouteParamtypes.BODY),
      };
      this.declared.set(handler, declared);
    }
    return declared;
  }
}

const metadataOf = <T>(key: string, target: object, name: string) =>
  Reflect.getMetadata(key, target, name) as T | undefined;

/**
 * Returns the kinds of parameters that a handler takes, with their index. Nest stores a parameter as `<type>:<index>`.
 * For custom decorators, the type is a random name, which may begin with a digit.
 */
export function argumentsOf(metadata: object): ReadonlyMap<number, number> {
  const keys = Object.keys(metadata).map((key) => key.split(':').map(Number));
  return new Map(keys as [number, number][]);
}

/** Renames `status[]`, which axios and PHP send for a repeated key, to `status` if `status` takes a list. */
function foldBrackets(query: Record<string, unknown>, declared: new () => object): void {
  for (const written of Object.keys(query)) {
    const name = written.slice(0, -2);
    if (!written.endsWith('[]') || !takesManyValues(declared, name)) continue;
    query[name] = [query[name] ?? [], query[written]].flat();
    delete query[written];
  }
}

/** Rejects undeclared parameters, repeated parameters that are not lists, and NUL, which the database cannot store. */
function problemsOfQuery(
  query: Readonly<Record<string, unknown>>,
  declared: DeclaredInput['query'],
): FieldError[] {
  return Object.entries(query).flatMap(([name, value]) => {
    const field = shownName(name);
    if (!declared) return unknownField(field, 'query parameter');
    if (Array.isArray(value) && !takesManyValues(declared, name)) {
      return { field, code: 'duplicate_key', message: `${field} is given more than once.` };
    }
    if (!`${name}${String(value)}`.includes('\0')) return [];
    return { field, code: 'nul_character', message: `${field} contains a NUL character.` };
  });
}
