import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type IncomingMessage, METHODS } from 'node:http';
import { AppError } from '../errors/app-error.js';
import { meaningOf } from '../errors/error-catalogue.js';
import { newId } from '../ids.js';

const SANE = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** The id that the sender gave, if it is well-formed, so that the sender finds its request in our log; else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : newId();
}

const ESCAPES = /(?:%[0-9a-f]{2})+|%/gi;
/** U+FFFD, which no id, name or address contains. */
const UNREADABLE = '%EF%BF%BD';

/**
 * Replaces percent-encoding of no text or of NUL, and an address of the API with an empty segment. The router would
 * reject the former before the authentication, and take the empty segment for an id. So they are an id or an address
 * that does not exist. A malformed query is reported later.
 */
export function withReadablePath(url: string): string {
  const path = url.split('?', 1)[0]!;
  const query = url.slice(path.length);
  if (path.startsWith('/api/') && /\/(\/|$)/.test(path)) return `/api/${UNREADABLE}${query}`;
  return path.includes('%') ? path.replace(ESCAPES, readable) + query : url;
}

function readable(escapes: string): string {
  if (escapes.includes('%00')) return UNREADABLE;
  try {
    decodeURIComponent(escapes);
    return escapes;
  } catch {
    return UNREADABLE;
  }
}

/** The addresses of UnknownAddressController, which takes every request under /api that no other handler takes. */
export const UNKNOWN_ADDRESSES = ['/api', '/api/*'];

/** The template of the address; undefined if the address does not exist, or not with this method. */
export function routeOf({ routeOptions: { url } }: FastifyRequest): string | undefined {
  return url === undefined || UNKNOWN_ADDRESSES.includes(url) ? undefined : url;
}

/** Knows the methods of each address, to distinguish a wrong method from a wrong address. */
@Injectable()
export class KnownRoutes {
  private readonly methods = new Map<string, readonly string[]>();

  /** Call it before any route is added. */
  watch(instance: FastifyInstance): void {
    // Fastify answers 404 to a method that it does not know, past the guards. Node itself ends CONNECT.
    const known = ['CONNECT', ...instance.supportedMethods];
    for (const method of METHODS.filter((one) => !known.includes(one))) {
      instance.addHttpMethod(method, { hasBody: true });
    }
    instance.addHook('onRoute', ({ url, method }) => {
      if (UNKNOWN_ADDRESSES.includes(url)) return;
      const known = this.methods.get(url) ?? [];
      this.methods.set(url, [...new Set([...known, ...[method].flat()])].sort());
    });
  }

  /** Under /api the RequestGuard reports a wrong method, only to known callers. */
  wrongMethodOutsideApi(request: FastifyRequest): AppError | undefined {
    return /^\/api([/?;#]|$)/.test(request.url) ? undefined : this.wrongMethod(request);
  }

  /** Why no handler takes this request, if none does. */
  problemOf(request: FastifyRequest): AppError | undefined {
    const wrongMethod = this.wrongMethod(request);
    if (wrongMethod || routeOf(request) !== undefined) return wrongMethod;
    return new AppError('not_found', meaningOf('not_found'));
  }

  private wrongMethod(request: FastifyRequest): AppError | undefined {
    const allow = this.allowedInstead(request).join(', ');
    if (allow === '') return undefined;
    const message = `${request.method} is not allowed here. Allowed: ${allow}.`;
    return new AppError('method_not_allowed', message, { headers: { allow } });
  }

  /** Empty if the method is allowed, or if the address does not exist. */
  private allowedInstead(request: FastifyRequest): readonly string[] {
    const route = routeOf(request);
    if (route !== undefined && !route.includes(':')) return [];
    const path = request.url.replace(/[?;#].*$/s, '');
    // Such as /api/actions/execute, which the router takes for an id of /api/actions/:id.
    const literal = this.methods.get(path);
    if (literal) return literal.includes(request.method) ? [] : literal;
    if (route !== undefined) return [];
    const found = [...this.methods].filter(([url]) => patternOf(url).test(path));
    return [...new Set(found.flatMap(([, methods]) => methods))].sort();
  }
}

/** The pattern of a route such as `/api/incidents/:id`. */
const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`);
