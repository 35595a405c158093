import './request.js';
import { type CanActivate, type ExecutionContext, Injectable, RequestMethod } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import {
  AppError,
  type FieldError,
  MOST_ERRORS,
  unknownField,
  ValidationError,
} from '../errors/app-error.js';
import { parseIfMatch } from './etag.js';
import { KnownRoutes } from './known-routes.js';
import { METHOD_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { Reflector } from '@nestjs/core';
import { shownName } from '../text.js';
import { takesManyValues } from '../validation/query-fields.js';
import { ANY_QUERY } from './handler-options.js';

/** Node joins repeated headers with ", ", so a key that was sent twice does not match. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** Rejects malformed headers. Like malformed bodies, they are reported after rate limits and before roles. */
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

/** Rejects unknown paths and methods. Runs after authentication, so that strangers do not learn which paths exist. */
@Injectable()
export class AddressGuard implements CanActivate {
  constructor(private readonly routes: KnownRoutes) {}

  canActivate(context: ExecutionContext): boolean {
    const problem = this.routes.problemOf(context.switchToHttp().getRequest<FastifyRequest>());
    if (problem) throw problem;
    return true;
  }
}

interface DeclaredInput {
  readonly query: 'checked' | 'undeclared' | 'ignored';
  /** Whether the parameter of this name takes several values. */
  readonly isList: (name: string) => boolean;
  readonly body: boolean;
}

/**
 * Rejects ambiguous JSON (strict-json.ts), and query parameters and bodies that the handler does not declare. The validation pipe
 * checks the declared ones. A caller would rely on a filter that the service ignores.
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
    foldBrackets(query, declared.isList);
    const problems = [...problemsOfQuery(query, declared)];
    // A handler that takes bytes checks them itself.
    if (!declared.body && !Buffer.isBuffer(request.body)) {
      const names = Object.keys(request.body ?? {}).slice(0, MOST_ERRORS);
      problems.push(...names.map((name) => unknownField(shownName(name), 'field')));
    }
    if (problems.length > 0) throw new ValidationError(problems);
    return true;
  }

  private inputOf(context: ExecutionContext): DeclaredInput {
    const handler = context.getHandler();
    const known = this.declared.get(handler);
    if (known) return known;
    const controller = context.getClass<object>();
    const { name } = handler;
    const args = argumentsOf(
      (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as object,
    );
    const classes = Reflect.getMetadata(
      'design:paramtypes',
      controller.prototype as object,
      name,
    ) as readonly (new () => object)[] | undefined;
    const queryClass = classes?.[args.get(RouteParamtypes.QUERY) ?? -1];
    const targets = [handler, controller];
    const isIgnored = this.reflector.getAllAndOverride<boolean | undefined>(ANY_QUERY, targets);
    const isRead = Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.GET;
    const declared: DeclaredInput = {
      query: isIgnored ? 'ignored' : args.has(RouteParamtypes.QUERY) ? 'checked' : 'undeclared',
      isList: (parameter) => queryClass !== undefined && takesManyValues(queryClass, parameter),
      body: isRead || args.has(RouteParamtypes.BODY),
    };
    this.declared.set(handler, declared);
    return declared;
  }
}

/**
 * The kinds of parameters that a handler takes, with their index. Nest stores them as `<type>:<index>`. The decorators of
 * this service have a random name instead of the type, which may begin with a digit.
 */
export function argumentsOf(metadata: object): ReadonlyMap<number, number> {
  const keys = Object.keys(metadata).map((key) => key.split(':').map(Number));
  return new Map(keys as [number, number][]);
}

/** Rejects invalid percent-encoding, which the router keeps as it is, so that a filter would match nothing. */
export function requireReadableQuery(url: string): void {
  const start = url.indexOf('?');
  if (start < 0 || !url.includes('%', start)) return;
  try {
    decodeURIComponent(url.slice(start));
  } catch (error) {
    throw new AppError('bad_request', 'The query is malformed.', { cause: error });
  }
}

/** Renames `status[]`, which axios and PHP send for a repeated key, to `status` if the handler takes a list of that name. */
function foldBrackets(query: Record<string, unknown>, isList: (name: string) => boolean): void {
  for (const written of Object.keys(query)) {
    const name = written.slice(0, -2);
    if (!written.endsWith('[]') || !isList(name)) continue;
    const values = [query[name] ?? [], query[written]].flat();
    query[name] = values.length === 1 ? values[0] : values;
    delete query[written];
  }
}

/** Rejects undeclared parameters, repeated parameters that are not lists, and NUL, which the database cannot store. */
function problemsOfQuery(
  query: Readonly<Record<string, unknown>>,
  { query: kind, isList }: DeclaredInput,
): FieldError[] {
  if (kind === 'ignored') return [];
  const undeclared = kind === 'undeclared' ? Object.keys(query) : [];
  const unknown = undeclared.map((name) => unknownField(shownName(name), 'query parameter'));
  const unreadable = Object.entries(query).flatMap(([name, value]) => {
    const field = shownName(name);
    if (Array.isArray(value) && !isList(name)) {
      return { field, code: 'duplicate_key', message: `${field} is given more than once.` };
    }
    if (`${name}${String(value)}`.includes('\0')) {
      return { field, code: 'nul_character', message: `${field} contains a NUL character.` };
    }
    return [];
  });
  return [...unknown, ...unreadable];
}
