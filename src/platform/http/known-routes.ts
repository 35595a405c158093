import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type IncomingMessage, METHODS } from 'node:http';
import { AppError } from '../errors/app-error.js';
import { meaningOf } from '../errors/error-catalogue.js';
import { newId } from '../ids.js';

const SANE = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** Keeps a well-formed request id of the sender, so that the sender can find the request in our log. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : newId();
}

/** U+FFFD in percent-encoding. No id, name or address contains this character. */
const UNREADABLE = '%EF%BF%BD';
const SUSPECT = /%|\/(?:\/|\?|$)/;

/**
 * The router would reject invalid percent-encoding before authentication, and would accept an empty segment as an id.
 * So this function turns such API paths into an id or a path that does not exist. A malformed query is reported later.
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

export function routeOf({ routeOptions: { url } }: FastifyRequest): string | undefined {
  return url === undefined || UNKNOWN_ADDRESSES.includes(url) ? undefined : url;
}

@Injectable()
export class KnownRoutes {
  private readonly methods = new Map<string, readonly string[]>();

  /** Must be called before any route is added. */
  watch(instance: FastifyInstance): void {
    // Fastify would answer unknown methods with 404 without calling the guards. Node itself ends CONNECT requests.
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
    // A path such as /api/actions/execute also matches the route /api/actions/:id.
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
