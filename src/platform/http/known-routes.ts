import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type IncomingMessage, METHODS } from 'node:http';
import { AppError } from '../errors/app-error.js';
import { meaningOf } from '../errors/error-catalogue.js';
import { newId } from '../ids.js';

const SANE = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** Returns the well-formed request id of the sender, which the sender can find in our log, or else a new id. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : newId();
}

/** U+FFFD, which no id, name or address contains. */
const UNREADABLE = '%EF%BF%BD';
const SUSPECT = /%|\/(?:\/|\?|$)/;

/**
 * Replaces an API path with an empty segment, and all escapes of a path with NUL or invalid percent-encoding. The router
 * would reject invalid encoding before authentication, and accept an empty segment as an id. The replacement is an id or a
 * path that does not exist. A malformed query is reported later.
 */
export function withReadablePath(url: string): string {
  if (!SUSPECT.test(url)) return url;
  const path = url.split('?', 1)[0]!;
  const query = url.slice(path.length);
  if (path.startsWith('/api/') && /\/(\/|$)/.test(path)) return `/api/${UNREADABLE}${query}`;
  return isReadable(path) ? url : path.replace(/%[0-9a-f]{0,2}/gi, UNREADABLE) + query;
}

function isReadable(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes('\0');
  } catch {
    return false;
  }
}

/** Routes of UnknownAddressController, which receives each request under /api that has no other handler. */
export const UNKNOWN_ADDRESSES = ['/api', '/api/*'];

/** Returns the route template, or `undefined` if the path does not exist or does not support the method. */
export function routeOf({ routeOptions: { url } }: FastifyRequest): string | undefined {
  return url === undefined || UNKNOWN_ADDRESSES.includes(url) ? undefined : url;
}

/** Knows the methods of each path, to distinguish a wrong method from a wrong path. */
@Injectable()
export class KnownRoutes {
  private readonly methods = new Map<string, readonly string[]>();

  /** Must be called before any route is added. */
  watch(instance: FastifyInstance): void {
    // Fastify answers 404 to an unknown method without calling the guards. Node itself ends CONNECT.
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

  /** Reports a wrong method outside /api. Under /api, RequestGuard reports it, and only to authenticated callers. */
  wrongMethodOutsideApi(request: FastifyRequest): AppError | undefined {
    return /^\/api([/?;#]|$)/.test(request.url) ? undefined : this.wrongMethod(request);
  }

  /** Returns the error for a request that has no handler. */
  problemOf(request: FastifyRequest): AppError | undefined {
    const wrongMethod = this.wrongMethod(request);
    if (wrongMethod || routeOf(request) !== undefined) return wrongMethod;
    return new AppError('not_found', meaningOf('not_found'));
  }

  private wrongMethod(request: FastifyRequest): AppError | undefined {
    const { method, url } = request;
    const route = routeOf(request);
    if (route !== undefined && !route.includes(':')) return undefined;
    const path = url.replace(/[?;#].*$/s, '');
    // For example /api/actions/execute, which the router matches to /api/actions/:id.
    const allowed = this.methods.get(path) ?? (route === undefined ? this.methodsLike(path) : []);
    if (allowed.length === 0 || allowed.includes(method)) return undefined;
    const allow = allowed.join(', ');
    const message = `${method} is not allowed here. Allowed: ${allow}.`;
    return new AppError('method_not_allowed', message, { headers: { allow } });
  }

  private methodsLike(path: string): readonly string[] {
    const found = [...this.methods].filter(([url]) => patternOf(url).test(path));
    return [...new Set(found.flatMap(([, methods]) => methods))].sort();
  }
}

const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`);
