import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { beginSpan, inSpan, isTracing } from '../tracing/tracing.js';
import { routeOf } from './known-routes.js';
import './request.js';

/** Each request is a span, and whatever is done for it is within. Nothing is installed where nobody wants traces. */
export function installRequestTraces(instance: FastifyInstance): void {
  if (!isTracing()) return;
  instance.addHook('onRequest', (request, reply, done) => {
    const { method, headers, id } = request;
    request.span = beginSpan({
      name: method,
      kind: 'server',
      // Two of them are joined by Node, and so are none.
      traceparent: [headers['traceparent']].flat()[0],
      attributes: { 'http.request.method': method, 'request.id': id },
    });
    // Not onResponse: that is never called for a client that gave up.
    reply.raw.once('close', () => endSpan(request, reply));
    inSpan(request.span, done);
  });
}

/** Only the template of the address is told: an id in a path is harmless, but nobody knows what a stranger puts there. */
function endSpan(request: FastifyRequest, reply: FastifyReply): void {
  const { span, method, failure, answeredId } = request;
  const route = routeOf(request);
  const isAnswered = reply.raw.writableFinished;
  span?.rename(`${method} ${route ?? 'unknown'}`);
  span?.note({
    'http.route': route,
    'http.response.status_code': isAnswered ? reply.statusCode : undefined,
    'answered.id': answeredId,
    'error.type': failure?.code,
  });
  if (!isAnswered) span?.end('client_gone');
  // That a caller is refused is no failure of the service.
  else span?.end(reply.statusCode >= 500 ? (failure?.code ?? 'unknown') : undefined);
}
