import type { FastifyInstance } from 'fastify';
import { knownOr } from './metric-kinds.js';
import type { Metrics } from './metrics.js';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts every answer, those that no controller gave included. */
export function installHttpMetrics(instance: FastifyInstance, metrics: Metrics): void {
  instance.addHook('onRequest', (_request, reply, done) => {
    metrics.httpInFlight.inc();
    // Not onResponse: that is never called for a client that gave up.
    reply.raw.once('close', () => metrics.httpInFlight.dec());
    done();
  });
  instance.addHook('onResponse', (request, reply, done) => {
    const method = knownOr(request.method, METHODS);
    // Addresses that do not exist, and wrong methods of those that do, have no template.
    const route = request.routeOptions.url ?? 'unknown';
    metrics.httpRequests.inc({ method, route, status: String(reply.statusCode) });
    metrics.httpDuration.observe({ method, route }, reply.elapsedTime / 1000);
    done();
  });
}
