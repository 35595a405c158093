import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Level, Logger } from 'pino';
import type { AppError } from '../errors/app-error.js';
import { routeOf } from '../http/known-routes.js';
import '../http/request.js';
import { isUuid } from '../ids.js';
import { visibleStart } from '../text.js';
import { traceIdIn } from '../tracing/tracing.js';

/** Probes and scrapes are frequent and uninformative, so they are logged at debug. */
const ROUTINE = /\/(live|ready|health|metrics)$/;
const LONGEST_AGENT = 200;
const LONGEST_NAME = 64;
/** Maximum logged length of an unknown id or name, which may be a secret by mistake. Real secrets are longer. */
const LONGEST_GUESS = 16;

export function installRequestLog(instance: FastifyInstance, logger: Logger, least: string): void {
  // Turns redaction off, which costs six times as much as the line. The line has only the fields below.
  const lines = logger.child({}, { redact: [], level: least });
  instance.addHook('onResponse', (request, reply, done) => {
    const route = routeOf(request);
    const agent = request.headers['user-agent'];
    const level = levelOf(request, reply.statusCode, route);
    const line = {
      request_id: request.id,
      trace_id: request.span?.traceId ?? traceIdIn(request.headers.traceparent),
      method: request.method,
      route: route ?? 'unknown',
      id: route === undefined ? undefined : idOf(request, reply.statusCode),
      status: reply.statusCode,
      code: request.failure?.code,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      caller: request.caller?.name,
      address: request.ip,
      user_agent: agent === undefined ? undefined : visibleStart(agent, LONGEST_AGENT),
    };
    // An error may hold any data of its library, so it is redacted.
    if (level === 'error' || level === 'warn') {
      logger[level]({ ...line, ...causeOf(request) }, 'request');
    } else lines[level](line, 'request');
    done();
  });
}

function levelOf(request: FastifyRequest, status: number, route: string | undefined): Level {
  const { failure } = request;
  // A handler may fail after its response was sent, so the status of the response is not enough.
  if (failure && failure.status >= 500) return isDecision(failure) ? 'warn' : 'error';
  if (route !== undefined && ROUTINE.test(route)) return 'debug';
  return status >= 500 ? 'warn' : 'info';
}

/** True if the service itself rejected the request. Strangers may cause many such rejections. */
function isDecision({ code, cause }: AppError): boolean {
  return code === 'service_unavailable' && cause === undefined;
}

function causeOf({ failure }: FastifyRequest): { err?: Error; reason?: string } {
  if (!failure) return {};
  if (isDecision(failure)) return { reason: failure.message };
  return { err: failure.cause instanceof Error ? failure.cause : failure };
}

function idOf({ params, answeredId }: FastifyRequest, status: number): string | undefined {
  const named = Object.values((params ?? {}) as Record<string, unknown>).at(-1);
  return typeof named === 'string' && named !== '' ? shownId(named, status) : answeredId;
}

/** A caller may send a key instead of an id by mistake. The beginning is enough to show a misspelt name. */
function shownId(named: string, status: number): string {
  const isFound = status >= 200 && status < 300;
  if (isFound || isUuid(named.replace(/^act-/, ''))) return visibleStart(named, LONGEST_NAME);
  const start = visibleStart(named.slice(0, LONGEST_GUESS), LONGEST_NAME);
  return named.length > LONGEST_GUESS ? `${start}…` : start;
}
