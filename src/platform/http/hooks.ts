import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bareAddress } from '../addresses/network.js';
import { beginSpan, inSpan, isTracing } from '../tracing/tracing.js';
import { API_HEADERS, sendCompletely } from './answer.js';
import { Settings } from '../config/settings.js';
import { AppError } from '../errors/app-error.js';
import { ArrivingBody, BodyMemory } from './arriving-body.js';
import { Draining } from './listening.js';
import { KnownRoutes, routeOf } from './known-routes.js';
import './request.js';

export function installHooks(app: NestFastifyApplication): void {
  const instance = app.getHttpAdapter().getInstance();
  const isBehindProxy = app.get(Settings).trustProxy.length > 0;
  const [memory, draining, routes] = [app.get(BodyMemory), app.get(Draining), app.get(KnownRoutes)];
  routes.watch(instance);
  installRequestTraces(instance);
  // Node would answer without the envelope. An unknown expectation may be ignored (RFC 9110).
  instance.server.on('checkExpectation', (request, response) =>
    instance.server.emit('request', request, response),
  );
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('*', (_request, _payload, done) => done(null));
  instance.addHook('onRequest', (request, reply, done) => {
    if (isBehindProxy) readForwardedAddresses(request);
    setSecurityHeaders(request, reply);
    openBody(request, reply, memory);
    done(hostMissing(request) ?? routes.wrongMethodOutsideApi(request));
  });
  instance.addHook('onSend', (request, reply, payload, done) => {
    // During shutdown, a client that reuses the connection would delay the exit or lose its next request.
    if (draining.begun) reply.header('connection', 'close');
    const { arriving } = request;
    if (!arriving || arriving.isComplete) return sendCompletely(request, reply, payload, done);
    void arriving.discard().then(() => {
      // Closes the connection. Otherwise, the rest of the body would be read as the next request.
      if (!arriving.isComplete) reply.header('connection', 'close');
      sendCompletely(request, reply, payload, done);
    });
  });
}

function hostMissing({ raw: { httpVersion, headers } }: FastifyRequest): AppError | undefined {
  if (headers.host !== undefined || httpVersion !== '1.1') return undefined;
  return new AppError('bad_request', 'The Host header is missing.');
}

const FORWARDED = 'x-forwarded-for';

/** Removes ports and brackets, which would hide a trusted proxy and give a sender a new address for each port. */
function readForwardedAddresses({ raw: { headers } }: FastifyRequest): void {
  const given = headers[FORWARDED];
  if (typeof given === 'string') headers[FORWARDED] = given.split(',').map(bareAddress).join(', ');
}

/** Content security policy of the two pages for people. Swagger UI uses inline styles and `data:` images. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const STAY_WITH_HTTPS = 'max-age=31536000; includeSubDomains';
const PAGES = /^\/(docs|login)(\/|\?|$)/;

function setSecurityHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(API_HEADERS).header('x-request-id', request.id);
  if (PAGES.test(request.url)) reply.header('content-security-policy', PAGE_POLICY);
  if (request.protocol === 'https') reply.header('strict-transport-security', STAY_WITH_HTTPS);
}

/** Content type with which Fastify accepts any body. RequestGuard rejects unsupported types after authentication. */
const ANY_TYPE = 'application/octet-stream';
const WELL_FORMED_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:\s*;.*)?$/;

/** Leaves the body unread until RequestGuard reads it, so that authentication comes first. */
function openBody(request: FastifyRequest, reply: FastifyReply, memory: BodyMemory): void {
  const { headers } = request;
  const type = headers['content-type'];
  // Fastify would reject such a request before authentication.
  const isRefused = type === undefined ? request.method === 'QUERY' : !WELL_FORMED_TYPE.test(type);
  if (isRefused) headers['content-type'] = ANY_TYPE;
  const hasBody = Number(headers['content-length']) > 0 || 'transfer-encoding' in headers;
  if (!hasBody) return;
  const body = new ArrivingBody(request.raw, memory);
  request.arriving = body;
  reply.raw.once('close', () => body.release());
}

/** Creates a span for each request, which includes all work of the request. Installs nothing if tracing is off. */
function installRequestTraces(instance: FastifyInstance): void {
  if (!isTracing()) return;
  instance.addHook('onRequest', (request, reply, done) => {
    const { method, headers, id } = request;
    request.span = beginSpan({
      name: method,
      kind: 'server',
      // Node joins repeated headers into one value, which is then invalid.
      traceparent: [headers['traceparent']].flat()[0],
      attributes: { 'http.request.method': method, 'request.id': id },
    });
    // Fastify does not call onResponse for a client that has disconnected.
    reply.raw.once('close', () => endSpan(request, reply));
    inSpan(request.span, done);
  });
}

/** Records only the route template, because a path may contain any text of an unauthenticated sender. */
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
  // A rejected request is not a failure of the service.
  else span?.end(reply.statusCode >= 500 ? (failure?.code ?? 'unknown') : undefined);
}
