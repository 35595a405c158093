import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Level, Logger } from 'pino';
import type { AppError } from '../errors/app-error.js';
import { routeOf } from '../http/known-routes.js';
import '../http/request.js';
import { isUuid } from '../ids.js';
import { visibleStart } from '../text.js';
import { traceIdIn } from '../tracing/tracing.js';

/** Probes and scrapes come every few seconds and say nothing new: they are logged at debug. */
const ROUTINE = /\/(live|ready|health|metrics)$/;
const LONGEST_AGENT = 200;
const LONGEST_NAME = 64;
/** Of what nothing has been found by. No key or password that deserves the name is as short. */
const LONGEST_GUESS = 16;

/** One line per request, which says all that is known of it: also why it failed, and what a program has to search for. */
export function installRequestLog(instance: FastifyInstance, logger: Logger): void {
  // Looking for secrets costs six times as much as the line, which is made of these few words alone.
  const lines = logger.child({}, { redact: [] });
  logger.on('level-change', (level) => {
    // A child hears of its own changes, too.
    if (lines.level !== level) lines.level = level;
  });
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
    // An error may hold whatever its library put there.
    if (level === 'error' || level === 'warn') {
      logger[level]({ ...line, ...causeOf(request) }, 'request');
    } else lines[level](line, 'request');
    done();
  });
}

function levelOf(request: FastifyRequest, status: number, route: string | undefined): Level {
  const { failure } = request;
  // An answer may have gone out well before its handler failed.
  if (failure && failure.status >= 500) return isDecision(failure) ? 'warn' : 'error';
  if (route !== undefined && ROUTINE.test(route)) return 'debug';
  return status >= 500 ? 'warn' : 'info';
}

/** The service's own refusal, such as of too many bodies at once: strangers may cause many of these. */
function isDecision({ code, cause }: AppError): boolean {
  return code === 'service_unavailable' && cause === undefined;
}

function causeOf({ failure }: FastifyRequest): { err?: Error; reason?: string } {
  if (!failure) return {};
  if (isDecision(failure)) return { reason: failure.message };
  return { err: failure.cause instanceof Error ? failure.cause : failure };
}

/** What it was about: what its address names, else what it was answered with. */
function idOf({ params, answeredId }: FastifyRequest, status: number): string | undefined {
  const named = Object.values((params ?? {}) as Record<string, unknown>).at(-1);
  return typeof named === 'string' && named !== '' ? shownId(named, status) : answeredId;
}

/**
 * Who is in a hurry puts a key in place of the id of a key. So only what has the form of an id, or what something was found
 * by, stands whole in the log; of anything else there is enough to recognize a misspelt name.
 */
function shownId(named: string, status: number): string {
  const isFound = status >= 200 && status < 300;
  if (isFound || isUuid(named.replace(/^act-/, ''))) return visibleStart(named, LONGEST_NAME);
  const start = visibleStart(named.slice(0, LONGEST_GUESS), LONGEST_NAME);
  return named.length > LONGEST_GUESS ? `${start}…` : start;
}
