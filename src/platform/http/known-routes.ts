import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type IncomingMessage, METHODS } from 'node:http';
import { AppError } from '../errors/app-error.js';
import { ERROR_CATALOGUE } from '../errors/error-catalogue.js';
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

interface KnownAddress {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** Knows the methods of each address, to distinguish a wrong method from a wrong address. */
@Injectable()
export class KnownRoutes {
  private readonly addresses = new Map<string, KnownAddress>();

  /** Call it before any route is added. */
  watch(instance: FastifyInstance): void {
    // Fastify answers 404 to a method that it does not know, past the guards. Node itself ends CONNECT.
    const known = new Set(['CONNECT', ...instance.supportedMethods]);
    for (const method of METHODS) {
      if (!known.has(method)) instance.addHttpMethod(method, { hasBody: true });
    }
    instance.addHook('onRoute', ({ url, method }) => {
      if (UNKNOWN_ADDRESSES.includes(url)) return;
      const address = this.addresses.get(url) ?? { pattern: patternOf(url), methods: new Set() };
      for (const one of [method].flat()) address.methods.add(one);
      this.addresses.set(url, address);
    });
  }

  /** Under /api the AddressGuard reports a wrong method, only to known callers. */
  wrongMethodOutsideApi(request: FastifyRequest): AppError | undefined {
    return /^\/api([/?;#]|$)/.test(request.url) ? undefined : this.wrongMethod(request);
  }

  /** Why no handler takes this request, if none does. */
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
    const allow = this.allowedInstead(request).join(', ');
    if (allow === '') return undefined;
    const message = `${request.method} is not allowed here. Allowed: ${allow}.`;
    return new AppError('method_not_allowed', message, { headers: { allow } });
  }

  /** Empty if the method is allowed, or if the address does not exist. */
  private allowedInstead(request: FastifyRequest): string[] {
    const route = routeOf(request);
    if (route !== undefined && !route.includes(':')) return [];
    const path = request.url.replace(/[?;#].*$/s, '');
    // Such as /api/actions/execute, which the router takes for an id of /api/actions/:id.
    const literal = this.addresses.get(path)?.methods;
    if (literal) return literal.has(request.method) ? [] : [...literal].sort();
    if (route !== undefined) return [];
    const found = [...this.addresses.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
  }
}

/** The pattern of a route such as `/api/incidents/:id`. */
function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    return segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}
