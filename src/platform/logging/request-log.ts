import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Level, Logger } from 'pino';
import type { AppError } from '../errors/app-error.js';
import { routeOf } from '../http/known-routes.js';
import '../http/request.js';

/** Probes and scrapes come every few seconds and say nothing new: they are logged at debug. */
const ROUTINE = /\/(live|ready|health|metrics)$/;
const LONGEST_AGENT = 200;

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
    const level = levelOf(request, reply.statusCode, route);
    const line = {
      request_id: request.id,
      method: request.method,
      route: route ?? 'unknown',
      id: idOf(request),
      status: reply.statusCode,
      code: request.failure?.code,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      caller: request.caller?.name,
      address: request.ip,
      user_agent: request.headers['user-agent']?.slice(0, LONGEST_AGENT),
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
function idOf({ params, answeredId }: FastifyRequest): string | undefined {
  const named = Object.values((params ?? {}) as Record<string, unknown>).at(-1);
  return typeof named === 'string' && named !== '' ? named.slice(0, 64) : answeredId;
}
