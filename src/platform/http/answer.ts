import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { FastifyAdapter, RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Logger } from 'pino';
import { AppError, toAppError } from '../errors/app-error.js';
import { newId } from '../ids.js';
import { PagedAnswer } from '../paging/page.js';
import { prefersAsync } from './handler-options.js';
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

/** Below this size, compression saves less than its header costs. */
const SMALLEST_COMPRESSED_BYTES = 1024;

type Done = (error: Error | null, payload?: unknown) => void;

/**
 * Only responses to GET are compressed: they contain no keys, secrets or tokens, which an attacker could learn from the
 * length of compressed responses (BREACH). Streams are flushed while they are written, and a strong ETag identifies the
 * exact bytes, so neither is compressed.
 */
export function sendCompletely(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: Done,
): void {
  const { headers, method } = request;
  if (reply.statusCode === 201) setLocation(request, reply, payload);
  if (reply.statusCode === 202 && prefersAsync(request)) {
    void reply.header('preference-applied', 'respond-async');
  }
  if (reply.statusCode !== 200 || (method !== 'GET' && method !== 'HEAD')) {
    return done(null, payload);
  }
  const etag = reply.getHeader('etag');
  if (typeof etag === 'string' && hasAlready(headers['if-none-match'], etag)) {
    reply.removeHeader('content-type').removeHeader('content-length').status(304);
    // For HEAD, Fastify itself removes the body and keeps Content-Length.
    return done(null, method === 'HEAD' ? payload : null);
  }
  if (!isCompressible(payload, etag)) return done(null, payload);
  // The header is set even if this caller accepts no compression, so that caches distinguish the encodings.
  void reply.header('vary', 'accept-encoding');
  if (!acceptsGzip(headers['accept-encoding'])) return done(null, payload);
  void reply.header('content-encoding', 'gzip').removeHeader('content-length');
  compressed(payload).then((packed) => done(null, packed), done);
}

function isCompressible(payload: unknown, etag: unknown): payload is string | Buffer {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return false;
  if (typeof etag === 'string' && etag.startsWith('"')) return false;
  return Buffer.byteLength(payload) > SMALLEST_COMPRESSED_BYTES;
}

const compress = promisify(gzip);
const compressedFiles = new WeakMap<Buffer, Promise<Buffer>>();

/** Compresses a file, which is a Buffer, only at its first request. */
function compressed(payload: Buffer | string): Promise<Buffer> {
  if (typeof payload === 'string') return compress(payload);
  let file = compressedFiles.get(payload);
  if (!file) compressedFiles.set(payload, (file = compress(payload, { level: 9 })));
  return file;
}

/** Sets Location to the URL of the new resource. For a webhook source, the name takes the place of the id. */
function setLocation(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const { server, answeredId } = request;
  const { url = '' } = request.routeOptions;
  const isList = server.hasRoute({ url: `${url}/:id`, method: 'GET' });
  if (!isList || typeof payload !== 'string') return;
  // For a repeated request, the payload is the text of the stored response.
  const id = answeredId ?? idIn(payload);
  void reply.header('location', `${url}/${encodeURIComponent(id)}`);
}

function idIn(payload: string): string {
  const { data } = JSON.parse(payload) as { readonly data: Readonly<Record<string, string>> };
  return (data['id'] ?? data['source'])!;
}

/** Compares If-None-Match weakly, because compressing proxies convert strong tags to weak tags. */
export function hasAlready(ifNoneMatch: string | undefined, etag: string): boolean {
  const plain = (tag: string) => tag.trim().replace(/^W\//, '');
  return (ifNoneMatch ?? '')
    .split(',')
    .some((tag) => tag.trim() === '*' || plain(tag) === plain(etag));
}

/** Matches an Accept-Encoding that allows gzip. A quality of 0 forbids it. */
const GZIP = /(?:^|,)\s*gzip\s*(?:,|$|;\s*q=(?:1|0\.\d*[1-9]))/i;

export function acceptsGzip(acceptEncoding: string | string[] = ''): boolean {
  return GZIP.test(String(acceptEncoding));
}

export interface StaticFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Weak tag of the content, the same with and without compression. */
  readonly etag: string;
}

export function staticFile(type: string, content: Buffer | string): StaticFile {
  const bytes = Buffer.from(content);
  return { type, bytes, etag: `W/"${hash('sha256', bytes, 'base64url').slice(0, 22)}"` };
}

export function sendFile(
  reply: FastifyReply,
  { type, bytes, etag }: StaticFile,
  caching: string,
): void {
  const headers = { 'cache-control': caching, etag, vary: 'accept-encoding' };
  void reply.headers(headers).type(type).send(bytes);
}
