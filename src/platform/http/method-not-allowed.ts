import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../errors/app-error.js';
import { errorBody } from './answer.js';
import './request.js';

interface KnownAddress {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** Knows the methods of each address, so that a wrong method is told from a wrong address. */
export class KnownRoutes {
  private readonly addresses = new Map<string, KnownAddress>();

  /** To be called before any route is added. */
  watch(instance: FastifyInstance): void {
    instance.addHook('onRoute', ({ url, method }) => {
      if (url.includes('*')) return;
      const address = this.addresses.get(url) ?? { pattern: patternOf(url), methods: new Set() };
      for (const one of [method].flat()) address.methods.add(one);
      this.addresses.set(url, address);
    });
  }

  /**
   * Answers 405 with Allow where Fastify would say that the address does not exist, or would take one that is written
   * out, such as /api/actions/execute, for the parameter of another. The search costs only those that found no route.
   */
  refuseOtherMethods(instance: FastifyInstance): void {
    instance.addHook('onRequest', (request, reply, done) => {
      const allow = this.allowedInstead(request);
      if (allow.length === 0) return done();
      const list = allow.join(', ');
      const words = `${request.method} is not allowed here; ${list} ${allow.length > 1 ? 'are' : 'is'}.`;
      const error = new AppError('method_not_allowed', words);
      request.failure = error;
      void reply.status(error.status).header('allow', list).send(errorBody(error, request.id));
    });
  }

  /** Nothing where the method is allowed, or where there is no such address. */
  private allowedInstead({ is404, method, url, routeOptions }: FastifyRequest): string[] {
    if (!is404 && !routeOptions.url?.includes(':')) return [];
    const path = url.replace(/[?;#].*$/s, '');
    const writtenOut = this.addresses.get(path)?.methods;
    if (writtenOut) return writtenOut.has(method) ? [] : [...writtenOut].sort();
    return is404 ? this.methodsOf(path) : [];
  }

  private methodsOf(path: string): string[] {
    const found = [...this.addresses.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
  }
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
