import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { FastifyAdapter, RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { AppError, toAppError } from '../errors/app-error.js';
import { newId } from '../ids.js';
import { PagedAnswer } from '../paging/page.js';
import type { Answer } from './request.js';

export const JSON_UTF8 = 'application/json; charset=utf-8';

export const API_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

declare module 'fastify' {
  interface FastifyContextConfig {
    rawAnswer?: boolean;
  }
}

export const RawAnswer = (): MethodDecorator => RouteConfig({ rawAnswer: true });

/** Ends a request or its transaction with the stored response of an earlier request with the same Idempotency-Key. */
export class AnsweredBefore extends Error {
  constructor(readonly answer: Answer) {
    super('The service already answered the request with this Idempotency-Key.');
  }
}

type Send = FastifyAdapter['reply'];

/** Wraps objects in `{data}` and pages in `{data, meta}`. Nest interceptors are too slow (docs/adr/0016). */
export class AnsweringAdapter extends FastifyAdapter {
  override reply(...[response, returned, status]: Parameters<Send>): ReturnType<Send> {
    const reply = response as FastifyReply;
    const { request } = reply;
    // Stores the id for the request log, because the path of a creation contains no id.
    const id = (returned as { readonly id?: unknown } | null | undefined)?.id;
    if (request && typeof id === 'string') request.answeredId = id;
    const answer = answerOf(reply, returned);
    const settle = request?.completeAnswer;
    if (!settle) return super.reply(response, answer, status);
    const body = typeof answer === 'string' ? answer : JSON.stringify(answer);
    const settled = settle({ status: status ?? reply.statusCode, body });
    // Nest waits for the promise, and handles a rejection like an error of the handler.
    return settled.then((final) =>
      reply.status(final.status).type(JSON_UTF8).send(final.body),
    ) as unknown as ReturnType<Send>;
  }
}

function answerOf(reply: FastifyReply, returned: unknown): unknown {
  const isObject = typeof returned === 'object' && returned !== null && !Buffer.isBuffer(returned);
  if (!isObject || returned instanceof PagedAnswer || reply.routeOptions.config.rawAnswer) {
    return returned;
  }
  return { data: returned };
}

@Catch()
export class ErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    if (!(thrown instanceof AnsweredBefore)) {
      return answerError(thrown, http.getRequest<FastifyRequest>(), reply);
    }
    const { status, body } = thrown.answer;
    void reply.status(status).header('idempotency-replayed', 'true').type(JSON_UTF8).send(body);
  }
}

function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = toAppError(thrown);
  request.failure = error;
  if (reply.sent) return;
  void reply
    .status(error.status)
    .headers({ ...error.extras.headers })
    .type(JSON_UTF8)
    .send(errorBody(error, request.id));
}

function errorBody(error: AppError, request_id: string): object {
  const { code, message, extras } = error;
  return { error: { code, message, request_id, ...extras.fields, details: extras.details } };
}

/** Sends errors that Fastify throws before any hook. */
export function answerFrameworkError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  answerError(error, request, reply.headers({ ...API_HEADERS, 'x-request-id': request.id }));
}

const CLIENT_FAULTS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
};

/** Responds to malformed input that Node rejects before it becomes a request. Logs the input without its content. */
export function answerClientError(
  { code = '' }: Error & { code?: string },
  socket: Socket,
  logger: Logger,
): void {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, message] = CLIENT_FAULTS[code] ?? [400, 'The request is malformed.'];
  const request_id = newId();
  const body = JSON.stringify(errorBody(new AppError('bad_request', message), request_id));
  const headers = {
    ...API_HEADERS,
    'x-request-id': request_id,
    'content-type': JSON_UTF8,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const address = socket.remoteAddress;
  const line = { request_id, route: 'unknown', status, code: 'bad_request', reason: code, address };
  logger.info(line, 'request');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}
