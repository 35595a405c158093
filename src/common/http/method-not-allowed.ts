import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors/app-error.js';
import { errorBody } from './error-body.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Keeps the methods of each address as routes are added. */
export class KnownRoutes {
  private readonly methods = new Map<string, Set<string>>();

  watch(instance: FastifyInstance): void {
    instance.addHook('onRoute', ({ url, method }) => {
      if (url.includes('*')) return;
      const known = this.methods.get(url) ?? new Set();
      for (const one of [method].flat()) known.add(one);
      this.methods.set(url, known);
    });
  }

  /** Answers 405 with Allow for what is left, where Fastify would say that the address does not exist. */
  refuseOtherMethods(instance: FastifyInstance): void {
    for (const [url, known] of new Map(this.methods)) {
      const allow = [...known].sort().join(', ');
      const others = METHODS.filter((method) => !known.has(method));
      if (others.length === 0) continue;
      instance.route({
        method: others,
        url,
        exposeHeadRoute: false,
        handler: (request, reply) => {
          const error = new AppError(
            'method_not_allowed',
            `${request.method} is not allowed here; ${allow} are.`,
          );
          void reply.status(error.status).header('allow', allow).send(errorBody(error, request.id));
        },
      });
    }
  }
}
