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
import { foldBrackets, queryProblems } from './query-problems.js';
import './request.js';

interface DeclaredInput {
  readonly query: 'checked' | 'undeclared' | 'ignored';
  /** Whether the parameter of this name takes several values. */
  readonly isList: (name: string) => boolean;
  readonly body: boolean;
}

/**
 * Refuses what no handler could use: content that means two things (see strict-json.ts), and query parameters and
 * bodies that a handler does not declare at all; what it declares, the validation pipe checks. A parameter that is
 * silently ignored is a filter that its sender believes in.
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
    const problems = [
      ...problemsOfQuery(query, declared),
      ...problemsOfBody(request.body, declared),
    ];
    if (problems.length > 0) throw new ValidationError(problems);
    return true;
  }

  private inputOf(context: ExecutionContext): DeclaredInput {
    const handler = context.getHandler();
    const known = this.declared.get(handler);
    if (known) return known;
    const metadata: unknown = Reflect.getMetadata(
      ROUTE_ARGS_METADATA,
      context.getClass(),
      handler.name,
    );
    const parameters = (metadata as object | undefined) ?? {};
    const args = paramTypes(parameters);
    const queryClass = classOfQuery(context.getClass(), handler.name, parameters);
    const anyQuery = this.reflector.getAllAndOverride<boolean | undefined>(ANY_QUERY, [
      handler,
      context.getClass(),
    ]);
    const declared: DeclaredInput = {
      query: anyQuery ? 'ignored' : args.includes(RouteParamtypes.QUERY) ? 'checked' : 'undeclared',
      isList: (name) => queryClass !== undefined && takesManyValues(queryClass, name),
      body:
        Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.GET ||
        args.includes(RouteParamtypes.BODY),
    };
    this.declared.set(handler, declared);
    return declared;
  }
}

/**
 * What kinds of parameters a handler takes. Nest keeps them as `<type>:<index>`; those of decorators of our own have a
 * random name in place of the type, which may begin with a digit.
 */
export function paramTypes(metadata: object): number[] {
  return Object.keys(metadata).map((key) => Number(key.split(':')[0]));
}

/** Nest keeps beside the kind of a parameter its place, and TypeScript its class. */
function classOfQuery(
  controller: { readonly prototype: object },
  method: string,
  metadata: object,
): (new () => object) | undefined {
  const [, place] =
    Object.keys(metadata)
      .map((key) => key.split(':').map(Number))
      .find(([kind]) => kind === RouteParamtypes.QUERY) ?? [];
  if (place === undefined) return undefined;
  const classes: unknown = Reflect.getMetadata('design:paramtypes', controller.prototype, method);
  return (classes as (new () => object)[] | undefined)?.[place];
}

function problemsOfQuery(query: Record<string, unknown>, declared: DeclaredInput): FieldError[] {
  if (declared.query === 'ignored') return [];
  const unknown = declared.query === 'undeclared' ? Object.keys(query) : [];
  return [
    ...unknown.map((name) => unknownField(shownName(name), 'query parameter')),
    ...queryProblems(query, declared.isList),
  ];
}

function problemsOfBody(body: unknown, declared: DeclaredInput): FieldError[] {
  // A form or a JSON object; bytes are the business of the handler that asked for them.
  if (typeof body !== 'object' || body === null || Buffer.isBuffer(body)) return [];
  const unknown = declared.body ? [] : Object.keys(body).slice(0, MOST_ERRORS);
  return unknown.map((name) => unknownField(shownName(name), 'field'));
}
