import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import '../http/request.js';

/** One line per request. Probes and scrapes come every few seconds and say nothing new: they are logged at debug. */
const ROUTINE = /\/(live|ready|health|metrics)$/;

export function installRequestLog(instance: FastifyInstance, logger: Logger): void {
  // Looking for secrets costs six times as much as the line, which is made of these few words alone.
  const lines = logger.child({}, { redact: [] });
  instance.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url;
    const level = route !== undefined && ROUTINE.test(route) ? 'debug' : 'info';
    lines[level](
      {
        request_id: request.id,
        method: request.method,
        route: route ?? 'unknown',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        caller: request.caller?.name,
      },
      'request',
    );
    done();
  });
}
