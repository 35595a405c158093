import './request.js';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { beginSpan, inSpan, isTracing } from '../tracing/tracing.js';
import { routeOf } from './known-routes.js';
import type { IncomingMessage } from 'node:http';
import { newId } from '../ids.js';
import { bareAddress } from '../addresses/network.js';

const SANE = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** The sender's own id when it is a sane token, so that it finds its request in our log; else one of ours. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : newId();
}

const HEADER = 'x-forwarded-for';

/**
 * Reads the addresses that proxies told of, before anybody asks for `request.ip`: with a port or brackets left on, a
 * trusted proxy would not be recognised, and one sender would be as many in limits and records as it has ports.
 */
export function installForwardedAddresses(instance: FastifyInstance): void {
  instance.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const given = headers[HEADER];
    if (typeof given === 'string') headers[HEADER] = given.split(',').map(bareAddress).join(', ');
    done();
  });
}

const ESCAPES = /(?:%[0-9a-f]{2})+|%/gi;
/** U+FFFD, which no id and no name contains. */
const UNREADABLE = '%EF%BF%BD';

/**
 * The address with something readable in place of percent-encoding in its path that stands for no text, or for NUL, and
 * of a part of an address of the API that is empty. The router would refuse it before anybody has asked who the caller is; like this it is an id,
 * or an address, that does not exist. What is wrong with the query is said of the query.
 */
export function withReadablePath(url: string): string {
  const path = url.split('?', 1)[0]!;
  const isWhole = !path.startsWith('/api/') || !/\/(\/|$)/.test(path);
  if (isWhole && !path.includes('%')) return url;
  const readablePath = path.replace(ESCAPES, readable);
  return (isWhole ? readablePath : withoutEmptyParts(readablePath)) + url.slice(path.length);
}

function withoutEmptyParts(path: string): string {
  const [root, ...parts] = path.split('/');
  return [root, ...parts.map((part) => part || UNREADABLE)].join('/');
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

/** Makes a span of each request, with all its work inside. Installs nothing if tracing is off. */
export function installRequestTraces(instance: FastifyInstance): void {
  if (!isTracing()) return;
  instance.addHook('onRequest', (request, reply, done) => {
    const { method, headers, id } = request;
    request.span = beginSpan({
      name: method,
      kind: 'server',
      // Node joins two of them into an invalid one.
      traceparent: [headers['traceparent']].flat()[0],
      attributes: { 'http.request.method': method, 'request.id': id },
    });
    // onResponse is never called for a client that disconnected.
    reply.raw.once('close', () => endSpan(request, reply));
    inSpan(request.span, done);
  });
}

/** Records only the route template, because a path may contain anything that a stranger sends. */
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
