import type { FastifyInstance } from 'fastify';
import type { Metrics } from './metrics.js';

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts every answer, those that no controller gave included. */
export function installHttpMetrics(instance: FastifyInstance, metrics: Metrics): void {
  instance.addHook('onRequest', (_request, _reply, done) => {
    metrics.httpInFlight.inc();
    done();
  });
  instance.addHook('onResponse', (request, reply, done) => {
    const method = KNOWN_METHODS.has(request.method) ? request.method : 'other';
    const route = request.routeOptions.url ?? 'unknown';
    metrics.httpInFlight.dec();
    metrics.httpRequests.inc({ method, route, status: String(reply.statusCode) });
    metrics.httpDuration.observe({ method, route }, reply.elapsedTime / 1000);
    done();
  });
}
