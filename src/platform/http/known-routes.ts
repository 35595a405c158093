import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { METHODS } from 'node:http';
import { AppError } from '../errors/app-error.js';
import { ERROR_CATALOGUE } from '../errors/error-catalogue.js';
import { errorBody } from './answer.js';
import './request.js';

interface KnownAddress {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** What the UnknownAddressController is mounted at: it takes every request under /api that no other handler takes. */
export const UNKNOWN_ADDRESSES = ['/api', '/api/*'];

/** The template of the address; undefined where there is no such address, or not with this method. */
export function routeOf({ routeOptions: { url } }: FastifyRequest): string | undefined {
  return url === undefined || UNKNOWN_ADDRESSES.includes(url) ? undefined : url;
}

/** Knows the methods of each address, so that a wrong method is told from a wrong address. */
@Injectable()
export class KnownRoutes {
  private readonly addresses = new Map<string, KnownAddress>();

  /** To be called before any route is added. */
  watch(instance: FastifyInstance): void {
    takeEveryMethod(instance);
    instance.addHook('onRoute', ({ url, method }) => {
      if (UNKNOWN_ADDRESSES.includes(url)) return;
      const address = this.addresses.get(url) ?? { pattern: patternOf(url), methods: new Set() };
      for (const one of [method].flat()) address.methods.add(one);
      this.addresses.set(url, address);
    });
  }

  /**
   * Answers 405 with Allow where Fastify would say that the address does not exist, or would take one that is written
   * out for the parameter of another. The search costs only those that found no route. Under /api the AddressGuard says
   * this, to those who may know it.
   */
  refuseOtherMethods(instance: FastifyInstance): void {
    instance.addHook('onRequest', (request, reply, done) => {
      const error = isUnderApi(request) ? undefined : this.wrongMethod(request);
      if (!error) return done();
      request.failure = error;
      void reply
        .status(error.status)
        .headers({ ...error.extras.headers })
        .send(errorBody(error, request.id));
    });
  }

  /** Why no handler is for this request, if none is. */
  problemOf(request: FastifyRequest): AppError | undefined {
    const wrongMethod = this.wrongMethod(request);
    if (wrongMethod || routeOf(request) !== undefined) return wrongMethod;
    return new AppError('not_found', ERROR_CATALOGUE.not_found.meaning);
  }

  /** The parameter of the route one level below `path` that takes `method`: `id` for `/api/incidents` and GET. */
  parameterBelow(path: string, method: string): string | undefined {
    for (const [url, { methods }] of this.addresses) {
      if (!methods.has(method) || !url.startsWith(`${path}/:`)) continue;
      const parameter = url.slice(path.length + 2);
      if (/^\w+$/.test(parameter)) return parameter;
    }
    return undefined;
  }

  private wrongMethod(request: FastifyRequest): AppError | undefined {
    const allow = this.allowedInstead(request);
    if (allow.length === 0) return undefined;
    const list = allow.join(', ');
    const words = `${request.method} is not allowed here; ${list} ${allow.length > 1 ? 'are' : 'is'}.`;
    return new AppError('method_not_allowed', words, { headers: { allow: list } });
  }

  /** Nothing where the method is allowed, or where there is no such address. */
  private allowedInstead(request: FastifyRequest): string[] {
    const route = routeOf(request);
    if (route !== undefined && !route.includes(':')) return [];
    const path = request.url.replace(/[?;#].*$/s, '');
    // Such as /api/actions/execute, which the router takes for an id of /api/actions/:id.
    const writtenOut = this.addresses.get(path)?.methods;
    if (writtenOut) return writtenOut.has(request.method) ? [] : [...writtenOut].sort();
    return route === undefined ? this.methodsOf(path) : [];
  }

  private methodsOf(path: string): string[] {
    const found = [...this.addresses.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
  }
}

/**
 * Fastify answers 404 to a method that it does not know, before any route is looked for: such requests would go round the
 * guards, and be counted by no limit. Known are now all that Node lets through, which ends CONNECT itself.
 */
function takeEveryMethod(instance: FastifyInstance): void {
  const known = new Set(['CONNECT', ...instance.supportedMethods]);
  // None is refused because of a body: who the caller is is asked before.
  for (const method of METHODS)
    if (!known.has(method)) instance.addHttpMethod(method, { hasBody: true });
}

function isUnderApi({ url }: FastifyRequest): boolean {
  return /^\/api([/?;#]|$)/.test(url);
}

/** Of a route such as /api/incidents/:id; what the router's other patterns could say, no route here says. */
function patternOf(url: string): RegExp {
  const segments = url
    .split('/')
    .map((segment) =>
      segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    );
  return new RegExp(`^${segments.join('/')}$`);
}
